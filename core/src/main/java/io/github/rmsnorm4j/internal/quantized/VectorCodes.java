package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;

/**
 * Emits the codes of four vectors of elements at a time; none is NaN or infinite.
 *
 * <p>A quotient y / d is computed with the inverse r of d: q = y * r, then q + (y - q * d) * r,
 * each with one rounding. A test shows that it is on the same side of every number between two
 * codes as y / d, or as equal to it, for the significands of all divisors.
 */
final class VectorCodes {
  private static final int FRACTION = 23;
  private static final int INFINITY = 0x7f800000;
  private static final int CODE = 0x7f;
  private static final int TOGETHER = 4;

  /** Of three bits the second one where the third one is 1, otherwise the first one. */
  private static final Immediate CHOICE = new Immediate(0xd8);

  private final Assembler a;

  /** Null for int8 codes. */
  private final Float8 type;

  private final int bits;
  private final int ofBlock;

  /**
   * For vectors of some bits.
   *
   * @param ofBlock the vectors that have one factor: 4, or 2 with 512 bits
   */
  VectorCodes(Assembler a, Float8 type, int bits, int ofBlock) {
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

  /** What the factor of the first block has to be in, and that of the second. */
  Vector factor(int block) {
    return v(block == 0 ? 5 : 16);
  }

  /** Likewise the inverse of a divisor. */
  Vector inverse(int block) {
    return v(block == 0 ? 8 : 17);
  }

  private void all(Vector to, int pattern) {
    a.op(VectorOp.VMOVUPS, to, a.places(pattern, pattern));
  }

  /** Loads what stays. */
  void begin() {
    all(magnitude(), 0x7fffffff);
    // Packing takes 128 bits of a vector at a time.
    int[] order =
        bits == 256
            ? new int[] {0, 4, 1, 5, 2, 6, 3, 7}
            : new int[] {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    a.op(VectorOp.VMOVUPS, order(), a.places(order));
    if (type != null) {
      all(v(13), Integer.MIN_VALUE);
      all(v(12), INFINITY);
      all(v(11), Float.MAX_EXPONENT + type.leastExponent << FRACTION);
      all(v(10), last());
      all(v(9), CODE);
    }
  }

  /**
   * What the exponent of an element is multiplied with: the last digit of the product is worth that
   * of the code. The lowest bits make up for the least exponent.
   */
  private int last() {
    int least = Float.MAX_EXPONENT + type.leastExponent << type.digits;
    int exponent = Float.MAX_EXPONENT + FRACTION - type.digits;
    return exponent << FRACTION | -least & 0xff;
  }

  /** Makes the codes of elements vector 0. */
  void emit(General from) {
    for (int i = 0; i < TOGETHER; i++) {
      Address elements = Address.at(from, i * bits / Byte.SIZE);
      if (type == null) {
        a.op(VectorOp.VMULPS, v(i), factor(i / ofBlock), elements);
        a.op(VectorOp.VCVTPS2DQ, v(i), v(i));
      } else {
        quotient(elements, i / ofBlock);
        float8(v(i));
      }
    }
    boolean signed = type == null;
    VectorOp shorts = signed ? VectorOp.VPACKSSDW : VectorOp.VPACKUSDW;
    a.op(shorts, v(0), v(0), v(1));
    a.op(shorts, v(2), v(2), v(3));
    a.op(signed ? VectorOp.VPACKSSWB : VectorOp.VPACKUSWB, v(0), v(0), v(2));
    a.op(VectorOp.VPERMD, v(0), order(), v(0));
  }

  /** Vector 7 is it, vector 6 its first approximation. */
  private void quotient(Address elements, int block) {
    a.op(VectorOp.VMOVUPS, v(4), elements);
    a.op(VectorOp.VMULPS, v(6), inverse(block), elements);
    a.op(VectorOp.VMOVUPS, v(7), v(6));
    a.op(VectorOp.VFNMADD231PS, v(4), v(7), factor(block));
    a.op(VectorOp.VFMADD231PS, v(7), v(4), inverse(block));
  }

  /**
   * The code of {@link Float8#encode} for vector 7, in 32 bits. A number whose last digit is worth
   * that of the code is added; it has the exponent and the sign of the approximation, which has a
   * sign for a zero, too. The product with a power of two is exact.
   */
  private void float8(Vector code) {
    a.op(VectorOp.VANDPS, v(4), v(6), v(12));
    a.op(VectorOp.VPMAXSD, v(4), v(4), v(11));
    if (bits == 512) {
      a.op(VectorOp.VPTERNLOGD, v(4), v(6), v(13), CHOICE);
    } else {
      a.op(VectorOp.VANDPS, v(6), v(6), v(13));
      a.op(VectorOp.VXORPS, v(4), v(4), v(6));
    }
    a.op(VectorOp.VFMADD231PS, v(7), v(4), v(10));
    a.op(VectorOp.VPSRLD, v(4), v(4), new Immediate(FRACTION - type.digits));
    a.op(VectorOp.VPADDD, v(7), v(7), v(4));
    a.op(VectorOp.VPSRLD, code, v(7), new Immediate(Float.SIZE - Byte.SIZE));
    if (bits == 512) {
      a.op(VectorOp.VPTERNLOGD, code, v(7), v(9), CHOICE);
    } else {
      a.op(VectorOp.VANDPS, code, code, a.places(CODE + 1, CODE + 1));
      a.op(VectorOp.VANDPS, v(7), v(7), v(9));
      a.op(VectorOp.VXORPS, code, code, v(7));
    }
  }
}
