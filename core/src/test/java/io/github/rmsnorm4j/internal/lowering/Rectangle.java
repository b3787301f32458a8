package io.github.rmsnorm4j.internal.lowering;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rounding;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/** Drawn rows in memory, with bytes before, between and behind them that no kernel may write to. */
final class Rectangle {
  private static final double[] SPECIAL = {
    Double.NaN, Double.POSITIVE_INFINITY, -0.0, 0x1p-130, -0x1p-149, 0x1p127, 0x1.ffp-127, 65520.0
  };

  private final ElementType type;
  private final MemorySegment segment;
  private final long offset;
  private final long stride;
  private final int rows;
  private final int width;

  /**
   * Native rows and the gaps between them are of any number of bytes.
   *
   * @param ordered whether rows have the same places in every array of a type
   */
  Rectangle(
      SplittableRandom random,
      Arena arena,
      ElementType type,
      Memory memory,
      int rows,
      int width,
      boolean ordered) {
    this.type = type;
    this.rows = rows;
    this.width = width;
    int bytes = type.bytes();
    boolean heap = memory == Memory.HEAP;
    int unit = heap || random.nextBoolean() ? bytes : 1;
    offset = ordered ? 3L * bytes : random.nextLong(40) * unit;
    stride = (long) width * bytes + (ordered ? 2L * bytes : random.nextLong(9) * unit);
    int elements = (int) ((offset + stride * rows) / bytes) + 40;
    segment = heap ? heap(elements) : arena.allocate(elements * bytes, 8);
    for (long at = 0; at < segment.byteSize(); at++) {
      segment.set(JAVA_BYTE, at, (byte) (at * 37));
    }
    int special = random.nextInt(3 * rows);
    for (int r = 0; r < rows; r++) {
      for (int i = 0; i < width; i++) {
        double number = (0.25 + random.nextDouble()) * (random.nextBoolean() ? 4 : -1);
        boolean odd = r == special && random.nextInt(8) == 0;
        set(r, i, odd ? SPECIAL[random.nextInt(SPECIAL.length)] : number);
      }
    }
  }

  private MemorySegment heap(int elements) {
    return switch (type) {
      case FLOAT64 -> MemorySegment.ofArray(new double[elements]);
      case FLOAT32 -> MemorySegment.ofArray(new float[elements]);
      case FLOAT16, BFLOAT16 -> MemorySegment.ofArray(new short[elements]);
    };
  }

  /** Points a frame at it. */
  void place(Frame frame, Tensor operand, int column) {
    long at = offset + (long) column * type.bytes();
    if (segment.isNative()) {
      frame.place(operand, null, segment.address() + at, stride);
    } else {
      frame.place(operand, segment.heapBase().orElseThrow(), at, stride);
    }
  }

  private long at(int row, int i) {
    return offset + row * stride + (long) i * type.bytes();
  }

  /** An element; a float32 as the float64 that is equal to it. */
  double get(int row, int i) {
    long at = at(row, i);
    return switch (type) {
      case FLOAT64 -> segment.get(JAVA_DOUBLE_UNALIGNED, at);
      case FLOAT32 -> segment.get(JAVA_FLOAT_UNALIGNED, at);
      case FLOAT16 -> Float.float16ToFloat(segment.get(JAVA_SHORT_UNALIGNED, at));
      case BFLOAT16 -> Float.intBitsToFloat(segment.get(JAVA_SHORT_UNALIGNED, at) << 16);
    };
  }

  /** Writes a number that is of float32 already where the rows are not float64. */
  void set(int row, int i, double number) {
    long at = at(row, i);
    switch (type) {
      case FLOAT64 -> segment.set(JAVA_DOUBLE_UNALIGNED, at, number);
      case FLOAT32 -> segment.set(JAVA_FLOAT_UNALIGNED, at, (float) number);
      case FLOAT16 -> {
        float nan = Float.isNaN((float) number) ? Float.NaN : (float) number;
        segment.set(JAVA_SHORT_UNALIGNED, at, Float.floatToFloat16(nan));
      }
      case BFLOAT16 -> {
        int bits = Float.floatToIntBits((float) Rounding.to(type, number));
        segment.set(JAVA_SHORT_UNALIGNED, at, (short) (bits >>> 16));
      }
    }
  }

  /**
   * All of its bytes.
   *
   * @param oneNan whether a NaN must have the canonical bits; otherwise all NaN count as equal
   */
  byte[] bytes(boolean oneNan) {
    byte[] bytes = segment.toArray(JAVA_BYTE);
    MemorySegment copy = MemorySegment.ofArray(bytes);
    for (int r = 0; !oneNan && r < rows; r++) {
      for (int i = 0; i < width; i++) {
        if (type == ElementType.FLOAT32 && Double.isNaN(get(r, i))) {
          copy.set(JAVA_FLOAT_UNALIGNED, at(r, i), Float.NaN);
        } else if (type == ElementType.FLOAT64 && Double.isNaN(get(r, i))) {
          copy.set(JAVA_DOUBLE_UNALIGNED, at(r, i), Double.NaN);
        }
      }
    }
    return bytes;
  }

  /** Where a byte is, for a message. */
  String where(int at) {
    long row = (at - offset) / stride;
    return type + " row " + row + " element " + (at - offset - row * stride) / type.bytes();
  }
}
