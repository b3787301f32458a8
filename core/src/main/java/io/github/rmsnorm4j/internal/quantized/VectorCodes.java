package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Constant;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;
import org.jspecify.annotations.Nullable;

/**
 * Emits the codes of four vectors of elements at a time; none is NaN or infinite.
 *
 * <p>A quotient y / d is computed with the inverse r of d: q = y * r, then q + (y - q * d) * r,
 * each with one rounding. A test shows that it is on the same side of every number between two
 * codes as y / d, or as equal to it, for the significands of all divisors.
 */
final class VectorCodes {
  private static final int TOGETHER = 4;
  private static final long SIGNS = 0x8080_8080_8080_8080L;

  /** The first of four vectors that have the signs of quotients, of zeros too. */
  private static final int SIGNED = 6;

  private final Assembler a;

  /** Null for int8 codes. */
  private final @Nullable Float8 type;

  private final int bits;
  private final int ofBlock;

  /**
   * For vectors of some bits.
   *
   * @param ofBlock the vectors that have one factor: 4, or 2 with 512 bits
   */
  VectorCodes(Assembler a, @Nullable Float8 type, int bits, int ofBlock) {
    this.a = a;
    this.type = type;
    this.bits = bits;
    this.ofBlock = ofBlock;
  }

  private Vector v(int n) {
    return new Vector(n, bits);
  }

  /** All bits but the sign, in a vector that stays. */
  Vector magnitude() {
    return v(15);
  }

  private Vector order() {
    return v(14);
  }

  private Vector exponents() {
    return v(13);
  }

  private Vector leastExponent() {
    return v(12);
  }

  private Vector lastDigit() {
    return v(11);
  }

  private Constant codes() {
    return all(0x7f);
  }

  /** What the factor of the first block has to be in, and that of the second. */
  Vector factor(int block) {
    return v(block == 0 ? 5 : 16);
  }

  /** Likewise the inverse of a divisor. */
  Vector inverse(int block) {
    return v(block == 0 ? 10 : 17);
  }

  private Constant all(int pattern) {
    return a.places(pattern, pattern);
  }

  /** Loads what stays. */
  void begin() {
    a.op(VectorOp.VMOVUPS, magnitude(), all(0x7fffffff));
    // Packing takes 128 bits of a vector at a time.
    int[] order =
        bits == 256
            ? new int[] {0, 4, 1, 5, 2, 6, 3, 7}
            : new int[] {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    a.op(VectorOp.VMOVUPS, order(), a.places(order));
    if (type != null) {
      a.op(VectorOp.VMOVUPS, exponents(), all(0x7f800000));
      a.op(VectorOp.VMOVUPS, leastExponent(), all(type.leastNormal));
      a.op(VectorOp.VMOVUPS, lastDigit(), all(type.lastDigit));
    }
  }

  /** Makes the codes of elements vector 0. */
  void emit(General from) {
    for (int i = 0; i < TOGETHER; i++) {
      Address elements = Address.at(from, i * bits / Byte.SIZE);
      if (type == null) {
        a.op(VectorOp.VMULPS, v(i), factor(i / ofBlock), elements);
        a.op(VectorOp.VCVTPS2DQ, v(i), v(i));
      } else {
        float8(type, v(i), elements, i / ofBlock);
      }
    }
    if (type == null) {
      pack(0, VectorOp.VPACKSSDW, VectorOp.VPACKSSWB);
    } else {
      pack(0, VectorOp.VPACKUSDW, VectorOp.VPACKUSWB);
      pack(SIGNED, VectorOp.VPACKSSDW, VectorOp.VPACKSSWB);
      a.op(VectorOp.VANDPS, v(SIGNED), v(SIGNED), a.constant(SIGNS));
      a.op(VectorOp.VXORPS, v(0), v(0), v(SIGNED));
    }
    a.op(VectorOp.VPERMD, v(0), order(), v(0));
  }

  /** Makes four vectors of ints one of bytes. Numbers that are too large keep their signs. */
  private void pack(int first, VectorOp toShorts, VectorOp toBytes) {
    a.op(toShorts, v(first), v(first), v(first + 1));
    a.op(toShorts, v(first + 2), v(first + 2), v(first + 3));
    a.op(toBytes, v(first), v(first), v(first + 2));
  }

  /**
   * The code of {@link Float8#encode} without its sign, in 32 bits. A number whose last digit is
   * worth that of the code is added; it has the exponent of the first approximation of the
   * quotient. The product with a power of two is exact.
   */
  private void float8(Float8 type, Vector code, Address elements, int block) {
    Vector first = v(SIGNED + code.n());
    a.op(VectorOp.VMULPS, first, inverse(block), elements);
    a.op(VectorOp.VMOVUPS, v(4), elements);
    a.op(VectorOp.VMOVUPS, code, first);
    a.op(VectorOp.VFNMADD231PS, v(4), first, factor(block));
    a.op(VectorOp.VFMADD231PS, code, v(4), inverse(block));
    a.op(VectorOp.VANDPS, code, code, magnitude());
    a.op(VectorOp.VANDPS, v(4), first, exponents());
    a.op(VectorOp.VPMAXSD, v(4), v(4), leastExponent());
    a.op(VectorOp.VFMADD231PS, code, v(4), lastDigit());
    a.op(VectorOp.VPSRLD, v(4), v(4), new Immediate(type.cut));
    a.op(VectorOp.VPADDD, code, code, v(4));
    a.op(VectorOp.VANDPS, code, code, codes());
  }
}
