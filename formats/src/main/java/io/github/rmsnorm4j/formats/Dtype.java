package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The element type of a stored tensor, with the name that {@code .safetensors} uses, or GGUF for
 * its own types.
 *
 * <p>Four types can be normalised and have an {@link #elementType()}. Of the others only the size
 * is known, so that they can be copied from one file to another. Types with {@link #isBlock()} are
 * GGUF's quantised types. They occur in GGUF files only, and no file with them is written.
 */
public enum Dtype {
  /** IEEE 754 binary64. */
  F64(64, ElementType.FLOAT64, 28),
  /** IEEE 754 binary32. */
  F32(32, ElementType.FLOAT32, 0),
  /** IEEE 754 binary16. */
  F16(16, ElementType.FLOAT16, 1),
  /** The upper half of a binary32. */
  BF16(16, ElementType.BFLOAT16, 30),
  /** A complex number of two binary32. */
  C64(64),
  /** Signed 64-bit integer. */
  I64(64, null, 27),
  /** Unsigned 64-bit integer. */
  U64(64),
  /** Signed 32-bit integer. */
  I32(32, null, 26),
  /** Unsigned 32-bit integer. */
  U32(32),
  /** Signed 16-bit integer. */
  I16(16, null, 25),
  /** Unsigned 16-bit integer. */
  U16(16),
  /** Signed 8-bit integer. */
  I8(8, null, 24),
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
  F4(4),
  /** GGUF: 1 bit, with a scale. */
  Q1_0(128, 18, 41),
  /** GGUF: 2 bits, with a scale. */
  Q2_0(64, 18, 42),
  /** GGUF: 4 bits, with a scale. */
  Q4_0(32, 18, 2),
  /** GGUF: 4 bits, with a scale and a minimum. */
  Q4_1(32, 20, 3),
  /** GGUF: 5 bits, with a scale. */
  Q5_0(32, 22, 6),
  /** GGUF: 5 bits, with a scale and a minimum. */
  Q5_1(32, 24, 7),
  /** GGUF: 8 bits, with a scale. */
  Q8_0(32, 34, 8),
  /** GGUF: 8 bits, with a scale and a sum. */
  Q8_1(32, 36, 9),
  /** GGUF: 2 bits, in blocks of blocks. */
  Q2_K(256, 84, 10),
  /** GGUF: 3 bits, in blocks of blocks. */
  Q3_K(256, 110, 11),
  /** GGUF: 4 bits, in blocks of blocks. */
  Q4_K(256, 144, 12),
  /** GGUF: 5 bits, in blocks of blocks. */
  Q5_K(256, 176, 13),
  /** GGUF: 6 bits, in blocks of blocks. */
  Q6_K(256, 210, 14),
  /** GGUF: 8 bits, in blocks of blocks. */
  Q8_K(256, 292, 15),
  /** GGUF: indices into a table, 1.56 bits an element. */
  IQ1_S(256, 50, 19),
  /** GGUF: indices into a table, 1.75 bits an element. */
  IQ1_M(256, 56, 29),
  /** GGUF: indices into a table, 2.06 bits an element. */
  IQ2_XXS(256, 66, 16),
  /** GGUF: indices into a table, 2.31 bits an element. */
  IQ2_XS(256, 74, 17),
  /** GGUF: indices into a table, 2.56 bits an element. */
  IQ2_S(256, 82, 22),
  /** GGUF: indices into a table, 3.06 bits an element. */
  IQ3_XXS(256, 98, 18),
  /** GGUF: indices into a table, 3.44 bits an element. */
  IQ3_S(256, 110, 21),
  /** GGUF: indices into a table, 4.5 bits an element. */
  IQ4_NL(32, 18, 20),
  /** GGUF: indices into a table, 4.25 bits an element. */
  IQ4_XS(256, 136, 23),
  /** GGUF: ternary, 1.69 bits an element. */
  TQ1_0(256, 54, 34),
  /** GGUF: ternary, 2.06 bits an element. */
  TQ2_0(256, 66, 35),
  /** GGUF: 4-bit float, with a scale that is a power of two. */
  MXFP4(32, 17, 39),
  /** GGUF: 4-bit float, with four scales of 8 bits. */
  NVFP4(64, 36, 40);

  private static final int NOT_IN_GGUF = -1;

  /** The smallest number of elements that is whole bytes; of a row, where it is a block. */
  final int blockElements;

  /** The size of so many elements. */
  final int blockBytes;

  private final boolean block;
  private final ElementType elementType;
  private final int ggufNumber;

  Dtype(int bits) {
    this(bits, null, NOT_IN_GGUF);
  }

  Dtype(int bits, ElementType elementType, int ggufNumber) {
    // The fewest elements that are whole bytes: two of 4 bits, four of 6.
    this.blockElements = bits % 8 == 0 ? 1 : bits == 4 ? 2 : 4;
    this.blockBytes = blockElements * bits / 8;
    this.block = false;
    this.elementType = elementType;
    this.ggufNumber = ggufNumber;
  }

  Dtype(int blockElements, int blockBytes, int ggufNumber) {
    this.blockElements = blockElements;
    this.blockBytes = blockBytes;
    this.block = true;
    this.elementType = null;
    this.ggufNumber = ggufNumber;
  }

  /** The type with a number in GGUF. Those that are missing were given up. */
  static Optional<Dtype> ofGguf(int number) {
    return Stream.of(values())
        .filter(dtype -> dtype.ggufNumber == number && number != NOT_IN_GGUF)
        .findFirst();
  }

  /**
   * The size of an element.
   *
   * @return bits per element, 1 to 64; where {@link #isBlock()}, with its part of the block's
   *     scales, rounded up, so that {@link Tensor#bytes()} is not a multiple of it
   */
  public int bits() {
    return Math.ceilDiv(blockBytes * 8, blockElements);
  }

  /**
   * {@return whether elements are stored in blocks with common scales, as those of GGUF's quantised
   * types are, which no other format has}
   */
  public boolean isBlock() {
    return block;
  }

  /** {@return the type of these elements in a norm, or empty if they cannot be normalised} */
  public Optional<ElementType> elementType() {
    return Optional.ofNullable(elementType);
  }

  /**
   * {@return the stored form of a type: the constant whose {@link #elementType()} it is}
   *
   * @param type a type that rows may have
   */
  public static Dtype of(ElementType type) {
    return switch (type) {
      case FLOAT64 -> F64;
      case FLOAT32 -> F32;
      case FLOAT16 -> F16;
      case BFLOAT16 -> BF16;
    };
  }

  /**
   * Elements as float64, which holds each of them exactly.
   *
   * @param elements elements of this type as {@link TensorFile#read} gives them
   * @param into takes the first elements
   * @param count how many
   * @throws IllegalArgumentException if this type has no {@link #elementType()}
   * @throws IndexOutOfBoundsException if there are not so many elements, or there is not room for
   *     them
   */
  public void decode(MemorySegment elements, double[] into, int count) {
    if (elementType == null) {
      throw new IllegalArgumentException(name() + " is not read as numbers");
    }
    for (int i = 0; i < count; i++) {
      into[i] = elementType.get(elements, i);
    }
  }
}
