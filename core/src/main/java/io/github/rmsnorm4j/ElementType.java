package io.github.rmsnorm4j;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.github.rmsnorm4j.internal.codec.Narrow;
import java.lang.foreign.MemorySegment;
import java.util.Locale;

/**
 * How one element of a row is stored.
 *
 * <p>Arithmetic on a row is float32, or float64 if the input is {@link #FLOAT64}. The 16-bit types
 * are for storage only: they convert to float32 exactly, and back by one rounding to nearest, ties
 * to even.
 */
public enum ElementType {
  /** IEEE 754 binary64, Java's {@code double}. NumPy {@code <f8}, safetensors {@code F64}. */
  FLOAT64(8, 53, -1022, "f64", "float64", "double"),
  /** IEEE 754 binary32, Java's {@code float}. NumPy {@code <f4}, safetensors {@code F32}. */
  FLOAT32(4, 24, -126, "f32", "float32", "float"),
  /** IEEE 754 binary16, held in a {@code short}. NumPy {@code <f2}, safetensors {@code F16}. */
  FLOAT16(2, 11, -14, "f16", "float16", "half"),
  /** The upper half of a binary32, held in a {@code short}. Safetensors {@code BF16}. */
  BFLOAT16(2, 8, -126, "bf16", "bfloat16", "bfloat16");

  private final int bytes;
  private final int digits;
  private final int leastExponent;
  private final String shortName;
  private final String longName;
  private final String torchName;

  ElementType(
      int bytes,
      int digits,
      int leastExponent,
      String shortName,
      String longName,
      String torchName) {
    this.bytes = bytes;
    this.digits = digits;
    this.leastExponent = leastExponent;
    this.shortName = shortName;
    this.longName = longName;
    this.torchName = torchName;
  }

  /** {@return the size of an element in bytes: 8, 4 or 2} */
  public int bytes() {
    return bytes;
  }

  /**
   * {@return the unit roundoff, 2^-53, 2^-24, 2^-11 or 2^-8: the largest error of one rounding of a
   * normal number, relative to it}
   */
  public double unitRoundoff() {
    return Math.scalb(1.0, -digits);
  }

  /**
   * {@return the smallest normal number, 2^-1022, 2^-126, 2^-14 or 2^-126: smaller numbers have
   * fewer digits}
   */
  public double minNormal() {
    return Math.scalb(1.0, leastExponent);
  }

  /** {@return the smallest number above 0: 2^-1074, 2^-149, 2^-24 or 2^-133} */
  public double minValue() {
    return Math.scalb(1.0, leastExponent - digits + 1);
  }

  /**
   * {@return the nearest number of this type, ties to even; infinity beyond the largest number of
   * the type} It is rounded once.
   *
   * @param value any number
   */
  public double round(double value) {
    return Narrow.round(value, this);
  }

  /**
   * {@return the exact value of an element} For single elements: a norm reads rows much faster.
   *
   * @param elements elements of this type in the byte order of the machine, from its first byte on
   * @param index counts elements
   * @throws IndexOutOfBoundsException if there is no such element
   */
  public double get(MemorySegment elements, long index) {
    return switch (this) {
      case FLOAT64 -> elements.getAtIndex(JAVA_DOUBLE_UNALIGNED, index);
      case FLOAT32 -> elements.getAtIndex(JAVA_FLOAT_UNALIGNED, index);
      case FLOAT16, BFLOAT16 ->
          Narrow.toFloat(elements.getAtIndex(JAVA_SHORT_UNALIGNED, index), this);
    };
  }

  /**
   * Writes an element.
   *
   * @param elements elements of this type in the byte order of the machine, from its first byte on
   * @param index counts elements
   * @param value any number; it is rounded once, as {@link #round} does
   * @throws IndexOutOfBoundsException if there is no such element
   */
  public void set(MemorySegment elements, long index, double value) {
    switch (this) {
      case FLOAT64 -> elements.setAtIndex(JAVA_DOUBLE_UNALIGNED, index, value);
      case FLOAT32 -> elements.setAtIndex(JAVA_FLOAT_UNALIGNED, index, (float) value);
      case FLOAT16, BFLOAT16 ->
          elements.setAtIndex(
              JAVA_SHORT_UNALIGNED, index, Narrow.toPattern(Narrow.roundToOdd(value), this));
    }
  }

  /**
   * {@return the short name, which the command line and safetensors use, in lower case: {@code
   * f64}, {@code f32}, {@code f16} or {@code bf16}}
   */
  public String shortName() {
    return shortName;
  }

  /**
   * {@return the type with a name: a short name, or a name of NumPy or PyTorch ({@code float32},
   * {@code half}, {@code torch.bfloat16}, ...)} Upper and lower case are the same.
   *
   * @param name a name of the type
   * @throws IllegalArgumentException if no type has that name
   */
  public static ElementType ofName(String name) {
    String wanted = name.toLowerCase(Locale.ROOT);
    if (wanted.startsWith("torch.")) {
      wanted = wanted.substring("torch.".length());
    }
    for (ElementType type : values()) {
      if (wanted.equals(type.shortName)
          || wanted.equals(type.longName)
          || wanted.equals(type.torchName)) {
        return type;
      }
    }
    throw new IllegalArgumentException(
        "type is '" + name + "', it may be f16, bf16, f32 or f64 (float16, bfloat16, ...)");
  }

  /** The long name, which NumPy and PyTorch use: {@code float32}, {@code bfloat16}, ... */
  @Override
  public String toString() {
    return longName;
  }
}
