package io.github.rmsnorm4j.internal.machine;

import static io.github.rmsnorm4j.internal.machine.VectorOp.Form.FROM;
import static io.github.rmsnorm4j.internal.machine.VectorOp.Form.OF_TWO;
import static io.github.rmsnorm4j.internal.machine.VectorOp.Form.SHIFT;
import static io.github.rmsnorm4j.internal.machine.VectorOp.Form.TO;
import static io.github.rmsnorm4j.internal.machine.VectorOp.InMemory.EIGHT;
import static io.github.rmsnorm4j.internal.machine.VectorOp.InMemory.FOUR;
import static io.github.rmsnorm4j.internal.machine.VectorOp.InMemory.HALF;
import static io.github.rmsnorm4j.internal.machine.VectorOp.InMemory.WHOLE;

import org.jspecify.annotations.Nullable;

/**
 * Instructions on vectors, with their numbers in Intel's manual (volume 2). An instruction with the
 * suffix {@code _TO} stores; its mnemonic has no suffix.
 */
public enum VectorOp implements Instruction.Op {
  // Moves.
  VMOVUPS(FROM, 0, 1, 0x10, 0, 0, WHOLE),
  VMOVUPS_TO(TO, 0, 1, 0x11, 0, 0, WHOLE),
  VMOVNTPS_TO(TO, 0, 1, 0x2b, 0, 0, WHOLE),
  VMOVSD_TO(TO, 3, 1, 0x11, 0, 1, EIGHT),
  VMOVD(FROM, 1, 1, 0x6e, 0, 0, FOUR),
  VBROADCASTSS(FROM, 1, 2, 0x18, 0, 0, FOUR),
  VBROADCASTSD(FROM, 1, 2, 0x19, 0, 1, EIGHT),
  VMOVDDUP(FROM, 3, 1, 0x12, 0, 1, EIGHT),
  // Conversions.
  VCVTPS2PD(FROM, 0, 1, 0x5a, 0, 0, HALF),
  VCVTPD2PS(FROM, 1, 1, 0x5a, 0, 1, null),
  VCVTPS2DQ(FROM, 1, 1, 0x5b, 0, 0, WHOLE),
  VCVTPH2PS(FROM, 1, 2, 0x13, 0, 0, HALF),
  VCVTPS2PH_TO(TO, 1, 3, 0x1d, 0, 0, HALF),
  VPMOVZXWD(FROM, 1, 2, 0x33, 0, 0, HALF),
  VPMOVDW_TO(TO, 2, 2, 0x33, -1, 0, HALF),
  VCVTNE2PS2BF16(OF_TWO, 3, 2, 0x72, -1, 0, WHOLE),
  // Arithmetic.
  VADDPS(OF_TWO, 0, 1, 0x58, 0, 0, WHOLE),
  VSUBPS(OF_TWO, 0, 1, 0x5c, 0, 0, WHOLE),
  VMULPS(OF_TWO, 0, 1, 0x59, 0, 0, WHOLE),
  VDIVPS(OF_TWO, 0, 1, 0x5e, 0, 0, WHOLE),
  VADDPD(OF_TWO, 1, 1, 0x58, 0, 1, WHOLE),
  VSUBPD(OF_TWO, 1, 1, 0x5c, 0, 1, WHOLE),
  VMULPD(OF_TWO, 1, 1, 0x59, 0, 1, WHOLE),
  VDIVPD(OF_TWO, 1, 1, 0x5e, 0, 1, WHOLE),
  VMAXPS(OF_TWO, 0, 1, 0x5f, 0, 0, WHOLE),
  VMINPS(OF_TWO, 0, 1, 0x5d, 0, 0, WHOLE),
  VMINPD(OF_TWO, 1, 1, 0x5d, 0, 1, WHOLE),
  VMAXPD(OF_TWO, 1, 1, 0x5f, 0, 1, WHOLE),
  VSQRTPD(FROM, 1, 1, 0x51, 0, 1, WHOLE),
  VFMADD213PS(OF_TWO, 1, 2, 0xa8, 0, 0, WHOLE),
  VFMADD231PS(OF_TWO, 1, 2, 0xb8, 0, 0, WHOLE),
  VFMADD213PD(OF_TWO, 1, 2, 0xa8, 1, 1, WHOLE),
  VFMADD231PD(OF_TWO, 1, 2, 0xb8, 1, 1, WHOLE),
  VFNMADD231PS(OF_TWO, 1, 2, 0xbc, 0, 0, WHOLE),
  // Patterns.
  VXORPS(OF_TWO, 0, 1, 0x57, 0, 0, WHOLE),
  VANDPS(OF_TWO, 0, 1, 0x54, 0, 0, WHOLE),
  VPAND(OF_TWO, 1, 1, 0xdb, 0, -1, WHOLE),
  VPANDD(OF_TWO, 1, 1, 0xdb, -1, 0, WHOLE),
  VPADDD(OF_TWO, 1, 1, 0xfe, 0, 0, WHOLE),
  VPMAXSD(OF_TWO, 1, 2, 0x3d, 0, 0, WHOLE),
  VPSUBD(OF_TWO, 1, 1, 0xfa, 0, 0, WHOLE),
  VPADDQ(OF_TWO, 1, 1, 0xd4, 0, 1, WHOLE),
  VPSLLD(SHIFT, 1, 1, 0x72, 0, 0, WHOLE, 6),
  VPSLLQ(SHIFT, 1, 1, 0x73, 0, 1, WHOLE, 6),
  VPSRLD(SHIFT, 1, 1, 0x72, 0, 0, WHOLE, 2),
  VPSRAD(SHIFT, 1, 1, 0x72, 0, 0, WHOLE, 4),
  VPACKUSDW(OF_TWO, 1, 2, 0x2b, 0, 0, WHOLE),
  VPACKSSDW(OF_TWO, 1, 1, 0x6b, 0, 0, WHOLE),
  VPACKSSWB(OF_TWO, 1, 1, 0x63, 0, 0, WHOLE),
  VPACKUSWB(OF_TWO, 1, 1, 0x67, 0, 0, WHOLE),
  // Comparisons and choices.
  VCMPPS(OF_TWO, 0, 1, 0xc2, 0, 0, WHOLE),
  VCMPPD(OF_TWO, 1, 1, 0xc2, 0, 1, WHOLE),
  VBLENDVPS(OF_TWO, 1, 3, 0x4a, 0, -1, WHOLE),
  VBLENDMPS(OF_TWO, 1, 2, 0x65, -1, 0, WHOLE),
  VBLENDMPD(OF_TWO, 1, 2, 0x65, -1, 1, WHOLE),
  VFPCLASSPS(FROM, 1, 3, 0x66, -1, 0, null),
  VMOVMSKPS(FROM, 0, 1, 0x50, 0, -1, null),
  VMOVMSKPD(FROM, 1, 1, 0x50, 0, -1, null),
  KORTESTW(FROM, 0, 1, 0x98, 0, -1, null),
  // Moves between elements.
  VEXTRACTF128_TO(TO, 1, 3, 0x19, 0, -1, HALF),
  VEXTRACTF64X4_TO(TO, 1, 3, 0x1b, -1, 1, HALF),
  VPERM2F128(OF_TWO, 1, 3, 0x06, 0, -1, WHOLE),
  VPERMQ(FROM, 1, 3, 0x00, 1, 1, WHOLE),
  VPERMD(OF_TWO, 1, 2, 0x36, 0, 0, WHOLE),
  VPERMPD(OF_TWO, 1, 2, 0x16, -1, 1, WHOLE),
  VSHUFF64X2(OF_TWO, 1, 3, 0x23, -1, 1, WHOLE),
  VUNPCKLPS(OF_TWO, 0, 1, 0x14, 0, 0, WHOLE),
  VUNPCKHPS(OF_TWO, 0, 1, 0x15, 0, 0, WHOLE),
  VUNPCKLPD(OF_TWO, 1, 1, 0x14, 0, 1, WHOLE),
  VUNPCKHPD(OF_TWO, 1, 1, 0x15, 0, 1, WHOLE);

  /** The fields of an encoding with the operands: reg, vvvv and rm. */
  enum Form {
    /** reg, rm. */
    FROM,
    /** rm, reg. */
    TO,
    /** reg, vvvv, rm. */
    OF_TWO,
    /** vvvv, rm; reg has a number that belongs to the instruction. */
    SHIFT
  }

  /**
   * The size of memory that an instruction reads or writes. In the encoding EVEX it is the unit of
   * displacements of 8 bits.
   */
  enum InMemory {
    WHOLE,
    HALF,
    FOUR,
    EIGHT;

    /** The size in bytes, for vectors of so many bits. */
    int bytes(int bits) {
      return switch (this) {
        case WHOLE -> bits / 8;
        case HALF -> bits / 16;
        case FOUR -> 4;
        case EIGHT -> 8;
      };
    }
  }

  final Form form;

  /** 0: none, 1: 66, 2: f3, 3: f2. */
  final int prefix;

  /** 1: 0f, 2: 0f38, 3: 0f3a. */
  final int map;

  final int opcode;

  /** The bit W; -1 if there is no such encoding. */
  final int vexW;

  final int evexW;

  /** Null if it has no operand in memory. */
  final @Nullable InMemory inMemory;

  /** The number in the field reg, for shifts. */
  final int digit;

  VectorOp(
      Form form,
      int prefix,
      int map,
      int opcode,
      int vexW,
      int evexW,
      @Nullable InMemory inMemory) {
    this(form, prefix, map, opcode, vexW, evexW, inMemory, -1);
  }

  VectorOp(
      Form form,
      int prefix,
      int map,
      int opcode,
      int vexW,
      int evexW,
      @Nullable InMemory inMemory,
      int digit) {
    this.form = form;
    this.prefix = prefix;
    this.map = map;
    this.opcode = opcode;
    this.vexW = vexW;
    this.evexW = evexW;
    this.inMemory = inMemory;
    this.digit = digit;
  }
}
