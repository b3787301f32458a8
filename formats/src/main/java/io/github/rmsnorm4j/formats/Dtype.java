package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.ElementType;
import java.util.Optional;

/**
 * The element type of a stored tensor, with the name that {@code .safetensors} uses.
 *
 * <p>Four types can be normalised and have an {@link #elementType()}. Of the others only the size
 * is known, so that they can be copied from one file to another.
 */
public enum Dtype {
  /** IEEE 754 binary64. */
  F64(64, ElementType.FLOAT64),
  /** IEEE 754 binary32. */
  F32(32, ElementType.FLOAT32),
  /** IEEE 754 binary16. */
  F16(16, ElementType.FLOAT16),
  /** The upper half of a binary32. */
  BF16(16, ElementType.BFLOAT16),
  /** A complex number of two binary32. */
  C64(64),
  /** Signed 64-bit integer. */
  I64(64),
  /** Unsigned 64-bit integer. */
  U64(64),
  /** Signed 32-bit integer. */
  I32(32),
  /** Unsigned 32-bit integer. */
  U32(32),
  /** Signed 16-bit integer. */
  I16(16),
  /** Unsigned 16-bit integer. */
  U16(16),
  /** Signed 8-bit integer. */
  I8(8),
  /** Unsigned 8-bit integer. */
  U8(8),
  /** A truth value in a byte. */
  BOOL(8),
  /** 8-bit float, 4 bits of exponent, without infinities. */
  F8_E4M3(8),
  /** 8-bit float, 5 bits of exponent. */
  F8_E5M2(8),
  /** 8-bit float, 4 bits of exponent, one zero and one NaN. */
  F8_E4M3FNUZ(8),
  /** 8-bit float, 5 bits of exponent, one zero and one NaN. */
  F8_E5M2FNUZ(8),
  /** A power of two, as block scales are stored. */
  F8_E8M0(8),
  /** 6-bit float, 2 bits of exponent, packed. */
  F6_E2M3(6),
  /** 6-bit float, 3 bits of exponent, packed. */
  F6_E3M2(6),
  /** 4-bit float, packed two to the byte. */
  F4(4);

  private final int bits;
  private final ElementType elementType;

  Dtype(int bits) {
    this(bits, null);
  }

  Dtype(int bits, ElementType elementType) {
    this.bits = bits;
    this.elementType = elementType;
  }

  /**
   * The size of an element.
   *
   * @return bits per element, 4 to 64
   */
  public int bits() {
    return bits;
  }

  /**
   * The type of these elements in a norm.
   *
   * @return the type, or empty if elements of this kind cannot be normalised
   */
  public Optional<ElementType> elementType() {
    return Optional.ofNullable(elementType);
  }

  /**
   * The stored form of a type.
   *
   * @param type a type that rows may have
   * @return the constant whose {@link #elementType()} is {@code type}
   */
  public static Dtype of(ElementType type) {
    return switch (type) {
      case FLOAT64 -> F64;
      case FLOAT32 -> F32;
      case FLOAT16 -> F16;
      case BFLOAT16 -> BF16;
    };
  }
}
