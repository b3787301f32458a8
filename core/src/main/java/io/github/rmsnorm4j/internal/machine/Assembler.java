package io.github.rmsnorm4j.internal.machine;

import static java.util.stream.Collectors.joining;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Constant;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Makes machine code from instructions of x86-64, in order, and constants. */
public final class Assembler {
  /** Constants are aligned to so many bytes, the length of the longest vectors. */
  static final int ALIGNMENT = 64;

  /** A constant: patterns of 64 bits. */
  public record Data(Label label, List<Long> patterns) {
    String text() {
      String numbers =
          patterns.stream().map(p -> "0x" + Long.toHexString(p)).collect(joining(", "));
      return label.line() + "\n  .quad " + numbers + "\n";
    }
  }

  private final List<Line> lines = new ArrayList<>();
  private final List<Data> constants = new ArrayList<>();
  private final Map<List<Long>, Constant> vectors = new LinkedHashMap<>();
  private int labels;

  /** A new label without a place. */
  public Label label(String name) {
    return new Label(name + "_" + labels++);
  }

  /** Places a label here. */
  public void bind(Label label) {
    lines.add(label);
  }

  /** A comment for the next instructions; the text is made when the code is listed. */
  public void comment(String format, Object... values) {
    lines.add(new Line.Comment(format, values));
  }

  /** Adds an instruction, its destination first. */
  public void op(Instruction.Op op, MachineOperand... operands) {
    lines.add(Instruction.of(op, operands));
  }

  /** Adds an instruction that writes only the elements of a mask, or a blend. */
  public void masked(Mask mask, VectorOp op, MachineOperand... operands) {
    lines.add(new Instruction(op, List.of(operands), mask));
  }

  /** A vector of 512 bits behind the code, with a pattern in all of its elements of 64 bits. */
  public Constant constant(long pattern) {
    return constant(Collections.nCopies(ALIGNMENT / Long.BYTES, pattern));
  }

  /** A vector of 512 bits behind the code, with given elements of 64 bits. */
  public Constant constants(int... elements) {
    return constant(IntStream.of(elements).mapToLong(e -> e).boxed().toList());
  }

  /** A vector of 512 bits behind the code, with given elements of 32 bits again and again. */
  public Constant places(int... elements) {
    List<Long> patterns = new ArrayList<>();
    for (int i = 0; i < ALIGNMENT / Integer.BYTES; i += 2) {
      int at = i % elements.length;
      long low = Integer.toUnsignedLong(elements[at]);
      patterns.add((long) elements[at + 1] << Integer.SIZE | low);
    }
    return constant(patterns);
  }

  private Constant constant(List<Long> patterns) {
    Constant constant = vectors.get(patterns);
    if (constant == null) {
      Label label = label("constant");
      constants.add(new Data(label, patterns));
      constant = new Constant(label);
      vectors.put(patterns, constant);
    }
    return constant;
  }

  /** Makes the code. */
  public Code code() {
    IdentityHashMap<Line, Boolean> far = new IdentityHashMap<>();
    while (true) {
      Layout layout = new Layout(far);
      if (!layout.growsJumps()) {
        return new Code(layout.bytes(), List.copyOf(lines), List.copyOf(constants));
      }
    }
  }

  /** Finds the place of everything, with jumps of 8 bits except those that are known to be far. */
  private final class Layout {
    private final IdentityHashMap<Line, Boolean> far;
    private final IdentityHashMap<Line, Encoding> encodings = new IdentityHashMap<>();
    private final IdentityHashMap<Label, Integer> places = new IdentityHashMap<>();
    private final int codeEnd;
    private final int end;

    Layout(IdentityHashMap<Line, Boolean> far) {
      this.far = far;
      int at = 0;
      for (Line line : lines) {
        if (line instanceof Label label) {
          places.put(label, at);
        } else if (line instanceof Instruction instruction) {
          Encoding encoding = encode(instruction);
          encodings.put(line, encoding);
          at += encoding.size();
        }
      }
      codeEnd = at;
      at = (at + ALIGNMENT - 1) & -ALIGNMENT;
      for (Data data : constants) {
        places.put(data.label, at);
        at += Long.BYTES * data.patterns.size();
      }
      end = constants.isEmpty() ? codeEnd : at;
    }

    private Encoding encode(Instruction instruction) {
      return instruction.op() instanceof VectorOp op
          ? VectorEncoder.encode(instruction, op)
          : GeneralEncoder.encode(
              instruction, (GeneralOp) instruction.op(), far.containsKey(instruction));
    }

    /** Whether jumps turned out to be far that were not known to be. */
    boolean growsJumps() {
      boolean grows = false;
      int at = 0;
      for (Line line : lines) {
        Encoding encoding = encodings.get(line);
        if (encoding != null) {
          at += encoding.size();
          if (!encoding.fits(distance(encoding, at))) {
            far.put(line, true);
            grows = true;
          }
        }
      }
      return grows;
    }

    private int distance(Encoding encoding, int end) {
      if (encoding.label() == null) {
        return 0;
      }
      return place(encoding.label()) - end;
    }

    private int place(Label label) {
      Integer place = places.get(label);
      if (place == null) {
        throw new IllegalArgumentException(label + " is nowhere in the code");
      }
      return place;
    }

    byte[] bytes() {
      ByteBuffer bytes = ByteBuffer.allocate(end).order(ByteOrder.LITTLE_ENDIAN);
      for (Line line : lines) {
        Encoding encoding = encodings.get(line);
        if (encoding != null) {
          bytes.put(encoding.withDistance(distance(encoding, bytes.position() + encoding.size())));
        }
      }
      for (Data data : constants) {
        bytes.position(place(data.label));
        for (long pattern : data.patterns) {
          bytes.putLong(pattern);
        }
      }
      return bytes.array();
    }
  }
}
