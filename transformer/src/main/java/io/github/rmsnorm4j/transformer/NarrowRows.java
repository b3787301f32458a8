package io.github.rmsnorm4j.transformer;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Rows of 16 bits on their way through a norm. */
final class NarrowRows {
  private static final int NAN = 0x7fc0;

  private final boolean bfloat16;
  private final MemorySegment bits;
  private final Rows rows;

  NarrowRows(Setup setup, int rows, int width) {
    ElementType type = setup.arithmetic().normRows();
    bfloat16 = type == ElementType.BFLOAT16;
    bits = setup.arena().allocate((long) rows * width * Short.BYTES, Short.BYTES);
    this.rows = Rows.of(bits, type, rows, width);
  }

  Rows rows() {
    return rows;
  }

  /** Rounds to nearest, ties to even. */
  void roundFrom(Matrix matrix) {
    Floats from = matrix.floats();
    for (long i = 0; i < matrix.elements(); i++) {
      float value = from.get(i);
      bits.setAtIndex(
          ValueLayout.JAVA_SHORT, i, bfloat16 ? toBfloat16(value) : Float.floatToFloat16(value));
    }
  }

  /** Exact. */
  void widenTo(Matrix matrix) {
    Floats to = matrix.floats();
    for (long i = 0; i < matrix.elements(); i++) {
      short value = bits.getAtIndex(ValueLayout.JAVA_SHORT, i);
      to.set(i, bfloat16 ? Float.intBitsToFloat(value << Short.SIZE) : Float.float16ToFloat(value));
    }
  }

  private static short toBfloat16(float value) {
    if (Float.isNaN(value)) {
      return NAN;
    }
    int all = Float.floatToRawIntBits(value);
    return (short) (all + 0x7fff + (all >>> Short.SIZE & 1) >>> Short.SIZE);
  }
}
