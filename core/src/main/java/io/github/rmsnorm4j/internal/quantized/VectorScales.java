package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Constant;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;

/**
 * Emits what {@link CodeFormula} describes of scales and factors, for as many blocks as a vector
 * has elements. What it finds for a few such vectors of blocks is in memory of the code.
 *
 * <p>A block is plain if its elements can be multiplied with a finite factor, or divided by a
 * number of which no intermediate result is subnormal. If it is not, its elements have to be
 * prepared: those of a block without codes become 0, those of a tiny divisor are enlarged as it is.
 */
final class VectorScales {
  /** Bytes of a slot. */
  static final int SLOT = 64;

  /** Vectors of blocks for which there is memory. */
  static final int VECTORS = 8;

  private static final int AREA = VECTORS * SLOT;

  static final int FACTORS = 0;

  /** One over the factors, where elements are divided by these. */
  static final int INVERSES = AREA;

  /** Ones where a block has codes, zeros elsewhere. */
  static final int VALID = 2 * AREA;

  /** Ones where a block is plain. */
  static final int PLAIN = 3 * AREA;

  /** Scales in float16. */
  static final int HALVES = 4 * AREA;

  /** For each block a slot with the largest magnitudes of some elements. */
  static final int LARGEST = 5 * AREA;

  static final int END = LARGEST + 16 * SLOT;

  private static final int INFINITY = 0x7f800000;
  private static final int NAN = 0x7fc00000;

  /** The least divisor that is used as it is, and what a smaller one is multiplied with. */
  private static final float LEAST = 0x1p-60f;

  private static final float ENLARGED = 0x1p96f;

  private static final Immediate SIGNS = new Immediate(31);
  private static final Immediate UNORDERED = new Immediate(3);

  private final Assembler a;
  private final CodeFormula scales;
  private final int bits;
  private final General own;

  /**
   * For code with memory of its own.
   *
   * @param own points to this memory, which is aligned to a slot
   */
  VectorScales(Assembler a, CodeFormula scales, int bits, General own) {
    this.a = a;
    this.scales = scales;
    this.bits = bits;
    this.own = own;
  }

  /** Whether elements are divided by the factor, and not multiplied with it. */
  boolean divides() {
    return scales.divides();
  }

  private Vector v(int n) {
    return new Vector(n, bits);
  }

  private Constant all(int pattern) {
    return a.places(pattern, pattern);
  }

  private Constant all(float value) {
    return all(Float.floatToRawIntBits(value));
  }

  private void store(int at, General block, int vector) {
    a.op(VectorOp.VMOVUPS_TO, new Address(own, block, Float.BYTES, at), v(vector));
  }

  /** The larger of two patterns of magnitudes. */
  void max(Vector to, Vector other) {
    a.op(VectorOp.VPMAXSD, to, to, other);
  }

  /** Begins with some vectors of blocks: they are plain as far as is known. */
  void begin() {
    a.op(VectorOp.VMOVUPS, allPlain(), all(-1));
  }

  /** Ones where all blocks with this place in their vectors are plain. */
  private Vector allPlain() {
    return v(8);
  }

  /**
   * Emits it for a vector of blocks.
   *
   * @param block the first one
   * @param halves whether the scales are wanted in float16, too
   */
  void emit(Address toScales, General block, boolean halves) {
    a.comment("# the largest one of each vector");
    largest(Address.at(own, LARGEST), bits / Float.SIZE, 0);
    a.comment("# scales and factors");
    a.op(VectorOp.VDIVPS, v(1), v(0), all(scales.codes()));
    if (scales.floor() > 0) {
      // The second one where one is NaN.
      a.op(VectorOp.VMOVUPS, v(2), all(scales.floor()));
      a.op(VectorOp.VMAXPS, v(1), v(2), v(1));
    }
    a.op(VectorOp.VPADDD, v(3), v(0), all(-INFINITY));
    a.op(VectorOp.VPSRAD, v(3), v(3), SIGNS);
    if (divides()) {
      divisors();
      store(INVERSES, block, 6);
    } else {
      factors();
    }
    a.op(VectorOp.VANDPS, allPlain(), allPlain(), v(5));
    store(FACTORS, block, 2);
    store(VALID, block, 3);
    store(PLAIN, block, 5);
    scale();
    a.op(VectorOp.VMOVUPS_TO, toScales, v(1));
    if (halves) {
      Address to = new Address(own, block, Short.BYTES, HALVES);
      a.op(VectorOp.VCVTPS2PH_TO, to, v(1), new Immediate(0));
    }
  }

  /**
   * The largest element of each of as many vectors as one has elements, in their order. Two vectors
   * become one with half the elements of each, until there is one.
   */
  private void largest(Address first, int count, int into) {
    if (count == 2) {
      Address second = first.plus(SLOT);
      a.op(VectorOp.VMOVUPS, v(into), first);
      a.op(VectorOp.VUNPCKLPS, v(7), v(into), second);
      a.op(VectorOp.VUNPCKHPS, v(into), v(into), second);
    } else {
      largest(first, count / 2, into);
      largest(first.plus(count / 2 * SLOT), count / 2, into + 1);
      if (count == 4) {
        a.op(VectorOp.VUNPCKLPD, v(7), v(into), v(into + 1));
        a.op(VectorOp.VUNPCKHPD, v(into), v(into), v(into + 1));
      } else if (bits == 256) {
        quarters(VectorOp.VPERM2F128, into, 0x20, 0x31);
      } else if (count == 8) {
        quarters(VectorOp.VSHUFF64X2, into, 0x44, 0xee);
      } else {
        quarters(VectorOp.VSHUFF64X2, into, 0x88, 0xdd);
      }
    }
    max(v(into), v(7));
  }

  private void quarters(VectorOp op, int into, int some, int others) {
    a.op(op, v(7), v(into), v(into + 1), new Immediate(some));
    a.op(op, v(into), v(into), v(into + 1), new Immediate(others));
  }

  /** From magnitudes, scales and whether magnitudes are finite: factors, and what is valid. */
  private void factors() {
    boolean inverse = scales.rule().factor() == CodeFactor.INVERSE;
    a.op(VectorOp.VMOVUPS, v(2), all(inverse ? 1 : scales.codes()));
    a.op(VectorOp.VDIVPS, v(2), v(2), v(inverse ? 1 : 0));
    if (!inverse && scales.floor() > 0) {
      // The floor is a power of two, so its inverse is exact, and the lesser where the floor
      // counts.
      a.op(VectorOp.VMOVUPS, v(4), all(1 / scales.floor()));
      a.op(VectorOp.VMINPS, v(2), v(4), v(2));
    }
    a.op(VectorOp.VPADDD, v(4), v(2), all(-INFINITY));
    a.op(VectorOp.VPSRAD, v(4), v(4), SIGNS);
    a.op(VectorOp.VANDPS, v(3), v(3), v(4));
    a.op(VectorOp.VANDPS, v(2), v(2), v(3));
    a.op(VectorOp.VMOVUPS, v(5), v(3));
  }

  /** Likewise divisors, none of them tiny, and their inverses. */
  private void divisors() {
    a.op(VectorOp.VXORPS, v(4), v(4), v(4));
    a.op(VectorOp.VPSUBD, v(4), v(4), v(1));
    a.op(VectorOp.VPSRAD, v(4), v(4), SIGNS);
    a.op(VectorOp.VANDPS, v(3), v(3), v(4));
    int least = Float.floatToRawIntBits(LEAST);
    int enlarged = Float.floatToRawIntBits(ENLARGED);
    int one = Float.floatToRawIntBits(1);
    a.op(VectorOp.VPADDD, v(4), v(1), all(-least));
    a.op(VectorOp.VPSRAD, v(4), v(4), SIGNS);
    a.op(VectorOp.VANDPS, v(2), v(4), all(one ^ enlarged));
    a.op(VectorOp.VXORPS, v(2), v(2), all(one));
    a.op(VectorOp.VMULPS, v(2), v(2), v(1));
    a.op(VectorOp.VANDPS, v(2), v(2), v(3));
    a.op(VectorOp.VPMAXSD, v(2), v(2), all(least));
    a.op(VectorOp.VMOVUPS, v(6), all(one));
    a.op(VectorOp.VDIVPS, v(6), v(6), v(2));
    a.op(VectorOp.VXORPS, v(5), v(4), all(-1));
    a.op(VectorOp.VANDPS, v(5), v(5), v(3));
  }

  /** An infinity or NaN stays a scale; any other one without codes is 0. */
  private void scale() {
    a.op(VectorOp.VMOVUPS, v(4), all(INFINITY - 1));
    a.op(VectorOp.VPSUBD, v(4), v(4), v(0));
    a.op(VectorOp.VPSRAD, v(4), v(4), SIGNS);
    a.op(VectorOp.VANDPS, v(4), v(4), v(1));
    a.op(VectorOp.VANDPS, v(4), v(4), all(NAN));
    a.op(VectorOp.VANDPS, v(1), v(1), v(3));
    a.op(VectorOp.VXORPS, v(1), v(1), v(4));
  }

  /** Jumps if a block is not plain; also where a vector has fewer blocks than elements. */
  void jumpUnlessPlain(General free, Label to) {
    if (bits == 512) {
      // Ones are a NaN.
      Mask plain = new Mask(1);
      a.op(VectorOp.VCMPPS, plain, allPlain(), allPlain(), UNORDERED);
      a.op(VectorOp.KORTESTW, plain, plain);
      a.op(GeneralOp.JAE, to);
    } else {
      a.op(VectorOp.VMOVMSKPS, free, allPlain());
      a.op(GeneralOp.CMP, free, new Immediate(0xff));
      a.op(GeneralOp.JNE, to);
    }
  }

  /** Finds the largest element that a divisor allows, vector 2, and the least, vector 3. */
  void beginPreparing(Address factor) {
    if (divides()) {
      a.op(VectorOp.VBROADCASTSS, v(2), factor);
      a.op(VectorOp.VMULPS, v(2), v(2), all(scales.codes()));
      a.op(VectorOp.VXORPS, v(3), v(2), all(Integer.MIN_VALUE));
    }
  }

  /**
   * Multiplies elements as their tiny divisor was multiplied. A subnormal divisor was rounded so
   * much that they may be too large.
   */
  void prepare(Vector elements) {
    if (divides()) {
      a.op(VectorOp.VMULPS, elements, elements, all(ENLARGED));
      a.op(VectorOp.VMINPS, elements, elements, v(2));
      a.op(VectorOp.VMAXPS, elements, elements, v(3));
    }
  }
}
