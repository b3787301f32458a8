package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Constant;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import java.util.SplittableRandom;

/** Draws operands for every instruction, of every kind that it has. */
final class DrawnInstructions {
  private final Assembler assembler;
  private final SplittableRandom random;
  private final Constant constant;

  /** Whether registers above 15, 512 bits and masks may be drawn. */
  private boolean evex;

  private boolean vex;
  private int bits;

  DrawnInstructions(Assembler assembler, long seed) {
    this.assembler = assembler;
    random = new SplittableRandom(seed);
    constant = assembler.constant(0x3ff0_0000_3f80_0000L);
  }

  /** Adds an instruction. */
  void add(Instruction.Op op) {
    switch (op) {
      case VectorOp v -> add(v);
      case GeneralOp g -> add(g);
    }
  }

  private void add(VectorOp op) {
    vex = op.vexW >= 0;
    evex = op.evexW >= 0 && (!vex || random.nextBoolean());
    bits = vectorBits(op);
    switch (op.form) {
      case FROM -> from(op);
      case TO -> to(op);
      case SHIFT -> emit(op, vector(bits), evex ? source(bits) : vector(bits), byteNumber());
      case OF_TWO -> ofTwo(op);
    }
  }

  private int vectorBits(VectorOp op) {
    return switch (op) {
      case VMOVSD_TO, VMOVD, VMOVDDUP -> 128;
      case VEXTRACTF128_TO, VPERM2F128 -> 256;
      case VEXTRACTF64X4_TO -> 512;
      case VBROADCASTSD, VPERMQ, VPERMD, VPERMPD, VSHUFF64X2 ->
          evex ? 256 << random.nextInt(2) : 256;
      default -> 128 << random.nextInt(evex ? 3 : 2);
    };
  }

  private void from(VectorOp op) {
    switch (op) {
      case VMOVMSKPS, VMOVMSKPD -> emit(op, general(32), vector(bits));
      case KORTESTW -> emit(op, mask(), mask());
      case VFPCLASSPS -> emit(op, mask(), vector(bits), byteNumber());
      case VPERMQ -> emit(op, vector(bits), source(bits), byteNumber());
      case VMOVD -> emit(op, vector(128), random.nextBoolean() ? general(32) : memory());
      case VBROADCASTSS, VBROADCASTSD, VMOVDDUP -> maybeMasked(op, vector(bits), source(128));
      case VCVTPS2PD, VCVTPH2PS, VPMOVZXWD ->
          maybeMasked(op, vector(bits), source(Math.max(128, bits / 2)));
      case VCVTPD2PS -> emit(op, vector(Math.max(128, bits / 2)), vector(bits));
      default -> maybeMasked(op, vector(bits), source(bits));
    }
  }

  private void to(VectorOp op) {
    switch (op) {
      case VMOVSD_TO, VMOVNTPS_TO -> emit(op, memory(), vector(bits));
      case VMOVUPS_TO -> maybeMasked(op, memory(), vector(bits));
      case VEXTRACTF128_TO, VEXTRACTF64X4_TO ->
          emit(op, source(bits / 2), vector(bits), new Immediate(random.nextInt(2)));
      case VCVTPS2PH_TO ->
          emit(op, source(Math.max(128, bits / 2)), vector(bits), new Immediate(random.nextInt(8)));
      default -> maybeMasked(op, source(Math.max(128, bits / 2)), vector(bits));
    }
  }

  private void ofTwo(VectorOp op) {
    switch (op) {
      case VCMPPS, VCMPPD -> {
        MachineOperand to = evex ? mask() : vector(bits);
        emit(op, to, vector(bits), source(bits), new Immediate(random.nextInt(32)));
      }
      case VBLENDVPS -> emit(op, vector(bits), vector(bits), source(bits), vector(bits));
      case VPERM2F128, VSHUFF64X2 ->
          emit(op, vector(bits), vector(bits), source(bits), byteNumber());
      // A mask would leave out bytes or shorts, of which there are more than a mask has bits here.
      case VPACKSSWB, VPACKUSWB, VPACKSSDW -> emit(op, vector(bits), vector(bits), source(bits));
      default -> maybeMasked(op, vector(bits), vector(bits), source(bits));
    }
  }

  private void emit(VectorOp op, MachineOperand... operands) {
    assembler.op(op, operands);
  }

  private void maybeMasked(VectorOp op, MachineOperand... operands) {
    if (!evex || random.nextInt(3) > 0) {
      assembler.op(op, operands);
      return;
    }
    assembler.masked(mask(), op, operands);
  }

  private Immediate byteNumber() {
    return new Immediate(random.nextInt(256));
  }

  private Vector vector(int bits) {
    return new Vector(random.nextInt(evex ? 32 : 16), bits);
  }

  private Mask mask() {
    return new Mask(1 + random.nextInt(7));
  }

  private General general(int bits) {
    return new General(random.nextInt(16), bits);
  }

  /** A register or memory. */
  private MachineOperand source(int bits) {
    return random.nextBoolean() ? vector(bits) : memory();
  }

  private MachineOperand memory() {
    return random.nextInt(8) == 0 ? constant : address();
  }

  private Address address() {
    int displacement =
        switch (random.nextInt(4)) {
          case 0 -> 0;
          case 1 -> random.nextInt(-200, 200);
          case 2 -> 8 * random.nextInt(-1200, 1200);
          default -> random.nextInt();
        };
    General index = random.nextBoolean() ? null : general(64);
    boolean none = index == null || index.equals(General.RSP);
    int scale = none ? 1 : 1 << random.nextInt(4);
    return new Address(general(64), none ? null : index, scale, displacement);
  }

  private void add(GeneralOp op) {
    int bits = 32 << random.nextInt(2);
    if (op.bytes != null) {
      assembler.op(op);
    } else if (op.jumps()) {
      jump(op);
    } else {
      switch (op) {
        case MOVZX -> assembler.op(op, general(32), address());
        case IMUL ->
            assembler.op(op, general(bits), random.nextBoolean() ? general(bits) : address());
        case LEA -> assembler.op(op, general(64), address());
        case SHL, SAR -> assembler.op(op, general(bits), new Immediate(1 + random.nextInt(30)));
        case PUSH, POP -> assembler.op(op, general(64));
        case STMXCSR, LDMXCSR, PREFETCHT0 -> assembler.op(op, memory());
        case MOV -> mov(bits);
        default -> arithmetic(op, bits);
      }
    }
  }

  private void mov(int bits) {
    switch (random.nextInt(4)) {
      case 0 -> assembler.op(GeneralOp.MOV, general(32), new Immediate(random.nextInt()));
      case 1 -> assembler.op(GeneralOp.MOV, general(bits), address());
      case 2 -> assembler.op(GeneralOp.MOV, general(bits), general(bits));
      default -> {
        int stored = random.nextInt(3) == 0 ? 16 : bits;
        assembler.op(GeneralOp.MOV, address(), general(stored));
      }
    }
  }

  private void arithmetic(GeneralOp op, int bits) {
    switch (random.nextInt(4)) {
      case 0 -> assembler.op(op, general(bits), new Immediate(random.nextInt()));
      case 1 -> assembler.op(op, general(bits), new Immediate(random.nextInt(-130, 130)));
      case 2 -> assembler.op(op, general(bits), general(bits));
      default -> assembler.op(op, general(bits), address());
    }
  }

  /** Forwards over some instructions, or back. */
  private void jump(GeneralOp op) {
    MachineOperand.Label label = assembler.label("L");
    boolean back = random.nextBoolean();
    if (back) {
      assembler.bind(label);
    } else {
      assembler.op(op, label);
    }
    int between = random.nextInt(30);
    for (int i = 0; i < between; i++) {
      mov(64);
    }
    if (back) {
      assembler.op(op, label);
    } else {
      assembler.bind(label);
    }
  }
}
