package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import io.github.rmsnorm4j.internal.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Runs a kernel on a few rows of its own before it serves a call: its bits have to be those of
 * plain Java. Some elements are subnormal. A kernel for rows of any width gets rows of two blocks
 * and an end of each length. The root of one row is below epsilon, since choices depend on that. A
 * row with a NaN, or with numbers that are NaN, has to be refused: first the last row, then an
 * earlier one among those that go through the parts together. In float64 that one has an element
 * whose square overflows.
 *
 * <p>Plain Java has its bits in the contract's state of the floating-point unit only. The thread
 * may be in another one, so both run in the contract's.
 */
final class Trial implements AutoCloseable {
  /** Two blocks, a group of 32, and an end of 16, 8, 4, 2 and 1. */
  private static final int WIDTH = 2 * RowSum.BLOCK + RowSum.LANES + 31;

  /** Elements of a row that its statistic is not of, as in partial norms. */
  private static final int UNSUMMED = 1000;

  private static final double EPSILON = 1e-6;
  private static final int NAN = 0x7fc00000;
  private static final int NONE = -1;

  /** The row whose root is below epsilon. */
  private static final int TINY = 1;

  /** One element in so many is subnormal. */
  private static final int SUBNORMAL = 50;

  private final Target target;
  private final int rows;
  private final int width;

  /** Elements that row sums are of. */
  private final int summed;

  /** The row with a NaN. */
  private final int bad;

  private final Map<Tensor, ElementType> types = new TreeMap<>();
  private final Map<Tensor, MemorySegment> tried = new TreeMap<>();
  private final Map<Tensor, MemorySegment> plain = new TreeMap<>();
  private final Map<Tensor, MemorySegment> columns = new TreeMap<>();
  private final List<NativeMemory> memory = new ArrayList<>();
  private final Frame frame = new Frame();
  private final MachineFrame machineFrame = new MachineFrame();
  private int random = 1;

  private Trial(Target target, int bad, int unsummed) {
    this.target = target;
    this.bad = bad;
    rows = target.group() + 2;
    width = target.width() > 0 ? target.width() : WIDTH;
    summed = width - unsummed;
    for (Part part : target.parts()) {
      types.putAll(part.rows());
    }
    for (Tensor number : numbers()) {
      for (int row = 0; row < rows; row++) {
        set(number, row, row == bad ? Double.NaN : 1 + 1.0 / (3 + row + number.place()));
      }
    }
    set(Forward.RSTD, TINY, bad == TINY ? Double.NaN : 1 / EPSILON);
    for (Map.Entry<Tensor, ElementType> rows : types.entrySet()) {
      allocate(rows.getKey(), rows.getValue());
    }
    for (Part part : target.parts()) {
      for (Map.Entry<Tensor, ElementType> entry : part.tensors().entrySet()) {
        if (entry.getKey().access() == Tensor.Access.COLUMN) {
          set(entry.getKey(), entry.getValue());
        }
      }
    }
    machineFrame.setWidth(width, summed);
    set(Forward.K, summed);
    set(Forward.EPSILON, EPSILON);
  }

  /** The numbers of rows that the parts read or leave. */
  private Set<Tensor> numbers() {
    Set<Tensor> numbers = new TreeSet<>();
    for (Part part : target.parts()) {
      for (Value value : part.values()) {
        if (value.kind() == Value.Kind.ROW) {
          numbers.add(value.tensor());
        }
      }
      for (Part.Statement statement : part.statements()) {
        if (statement instanceof Part.Keep keep) {
          numbers.add(keep.number());
        } else if (statement instanceof Part.Sum sum) {
          numbers.add(sum.number());
        }
      }
    }
    return numbers;
  }

  /** Whether a kernel has the bits of plain Java. */
  static boolean passes(Target target, MachineKernel kernel) {
    int unsummed = target.width() == 0 ? UNSUMMED : 0;
    if (!refuses(target)) {
      int rows = target.group() + 2;
      return passes(target, kernel, NONE, rows, 0) && passes(target, kernel, NONE, rows, unsummed);
    }
    int last = target.group() + 1;
    int among = Math.max(1, target.group() / 2);
    int before = target.group() > 1 ? 0 : among;
    return passes(target, kernel, last, last, 0) && passes(target, kernel, among, before, unsummed);
  }

  /** Whether a kernel is for rows within ranges alone. */
  private static boolean refuses(Target target) {
    for (Part part : target.parts()) {
      for (Part.Statement statement : part.statements()) {
        if (statement instanceof Part.Range) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Whether it does the rows before the one with a NaN as plain Java does.
   *
   * @param bad that row; none has a NaN where the kernel refuses no row
   * @param done how many rows are done before it is refused
   */
  private static boolean passes(
      Target target, MachineKernel kernel, int bad, int done, int unsummed) {
    boolean[] passes = new boolean[1];
    try (Trial trial = new Trial(target, bad, unsummed);
        FloatingPointState state = new FloatingPointState()) {
      state.inContract(() -> passes[0] = trial.passes(kernel, done));
    }
    return passes[0];
  }

  @Override
  public void close() {
    machineFrame.close();
    memory.forEach(NativeMemory::close);
  }

  private MemorySegment memory(long bytes) {
    memory.add(new NativeMemory(bytes));
    return memory.getLast().segment();
  }

  /** Numbers of about 1, from a generator that is the same everywhere. */
  private int pattern(int i) {
    random = random * 1_664_525 + 1_013_904_223;
    int pattern = random >>> 9 | 0x3f800000 | random & 0x80000000;
    return i % SUBNORMAL == 1 ? pattern & 0x807fffff : pattern;
  }

  private void set(Tensor number, double value) {
    frame.set(number, value);
    machineFrame.set(number, value);
  }

  private void set(Tensor number, int row, double value) {
    frame.of(number)[row] = value;
    machineFrame.set(number, row, value);
  }

  private void allocate(Tensor operand, ElementType type) {
    int apart = stride(type) / type.bytes();
    MemorySegment segment = memory((long) rows * stride(type));
    float[] numbers = new float[rows * apart];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = number(i == bad * apart ? NAN : pattern(i), type);
      if (operand.equals(Forward.X) && i / apart == TINY) {
        numbers[i] *= 0x1p-22f;
      }
    }
    if (type == ElementType.FLOAT64) {
      segment.copyFrom(MemorySegment.ofArray(doubles(numbers)));
    } else {
      short[] patterns = new short[numbers.length];
      Memory.write(type, null, segment.address(), numbers, patterns, numbers.length);
    }
    tried.put(operand, segment);
    plain.put(operand, memory(segment.byteSize()).copyFrom(segment));
  }

  /** Of float16 a subnormal one, too, where the float32 is subnormal. */
  private static float number(int pattern, ElementType type) {
    boolean subnormal = (pattern & 0x7f800000) == 0;
    return type == ElementType.FLOAT16 && subnormal
        ? Float.float16ToFloat((short) (pattern >>> 13 & 0x3ff))
        : Float.intBitsToFloat(pattern);
  }

  /** With digits that float32 has not; those of subnormal numbers are subnormal, too. */
  private double[] doubles(float[] numbers) {
    double[] doubles = new double[numbers.length];
    for (int i = 0; i < doubles.length; i++) {
      boolean subnormal = Math.abs(numbers[i]) < Float.MIN_NORMAL;
      doubles[i] = subnormal ? numbers[i] * 0x1p-896 : numbers[i] / 3.0;
      doubles[i] = Double.isNaN(doubles[i]) && bad < rows - 1 ? 0x1p600 : doubles[i];
    }
    return doubles;
  }

  private void set(Tensor column, ElementType type) {
    float[] numbers = new float[width];
    for (int i = 0; i < width; i++) {
      numbers[i] = Float.intBitsToFloat(pattern(i));
    }
    frame.point(column, type == ElementType.FLOAT64 ? doubles(numbers) : numbers);
    MemorySegment segment = memory((long) width * type.bytes());
    machineFrame.point(column, segment.copyFrom(plainColumn(column)).address());
    columns.put(column, segment);
  }

  private boolean passes(MachineKernel kernel, int done) {
    for (Map.Entry<Tensor, ElementType> rows : types.entrySet()) {
      Tensor operand = rows.getKey();
      int stride = stride(rows.getValue());
      machineFrame.place(operand, null, tried.get(operand).address(), stride);
      frame.place(operand, null, plain.get(operand).address(), stride);
    }
    boolean same = kernel.run(machineFrame, rows) == done;
    for (Part part : target.parts()) {
      new PlainKernel(part, 0).run(frame, done, 0, part.sums().isEmpty() ? width : summed);
      for (Part.Statement statement : part.statements()) {
        same &= !(statement instanceof Part.Keep keep) || isSame(keep.number(), done);
        same &= !(statement instanceof Part.Sum sum) || isSame(sum.number(), done);
      }
    }
    for (Map.Entry<Tensor, ElementType> rows : types.entrySet()) {
      same &= isSame(rows.getKey(), rows.getValue(), done);
    }
    for (Map.Entry<Tensor, MemorySegment> column : columns.entrySet()) {
      same &= column.getValue().mismatch(plainColumn(column.getKey())) < 0;
    }
    return same;
  }

  private MemorySegment plainColumn(Tensor column) {
    Object numbers = frame.base[column.slot()];
    return numbers instanceof double[] doubles
        ? MemorySegment.ofArray(doubles)
        : MemorySegment.ofArray((float[]) numbers);
  }

  private boolean isSame(Tensor number, int done) {
    double[] numbers = new double[done];
    machineFrame.copy(number, 0, done, numbers, 0);
    return Arrays.mismatch(numbers, 0, done, frame.of(number), 0, done) < 0;
  }

  /**
   * Bytes from a row to the next. What is between them stays as it is. If the output of a kernel
   * need not be aligned, only its first row is.
   */
  private int stride(ElementType type) {
    return Area.aligned(width * type.bytes()) + (target.peels() ? type.bytes() : 0);
  }

  private boolean isSame(Tensor operand, ElementType type, int done) {
    long bytes = (long) done * stride(type);
    return tried.get(operand).asSlice(0, bytes).mismatch(plain.get(operand).asSlice(0, bytes)) < 0;
  }
}
