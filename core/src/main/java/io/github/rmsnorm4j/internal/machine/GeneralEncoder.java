package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.InMemory;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import java.util.List;

/** Encodes all other instructions. */
final class GeneralEncoder {
  private final Instruction instruction;
  private final GeneralOp op;
  private final List<MachineOperand> operands;
  private final Encoding out = new Encoding();

  private GeneralEncoder(Instruction instruction, GeneralOp op) {
    this.instruction = instruction;
    this.op = op;
    operands = instruction.operands();
  }

  /**
   * The bytes of an instruction.
   *
   * @param far whether a jump has a distance of 32 bits, instead of 8
   */
  static Encoding encode(Instruction instruction, GeneralOp op, boolean far) {
    GeneralEncoder encoder = new GeneralEncoder(instruction, op);
    if (op.bytes != null) {
      encoder.out.bytes(op.bytes);
    } else if (op.jumps()) {
      encoder.jump((Label) encoder.operands.getFirst(), far);
    } else if (encoder.operands.size() == 1) {
      encoder.one(encoder.operands.getFirst());
    } else {
      encoder.two(encoder.operands.get(0), encoder.operands.get(1));
    }
    return encoder.out;
  }

  private void jump(Label to, boolean far) {
    boolean always = op == GeneralOp.JMP;
    if (far && !always) {
      out.bytes(0x0f);
    }
    out.bytes(always ? far ? 0xe9 : 0xeb : (far ? 0x80 : 0x70) | op.number);
    out.distance(to, far ? Integer.BYTES : 1);
  }

  private void one(MachineOperand operand) {
    switch (op) {
      case PUSH -> {
        rex(0, operand, 32);
        out.bytes(0x50 | Encoding.number(operand) & 7);
      }
      case POP -> {
        rex(0, operand, 32);
        out.bytes(0x58 | Encoding.number(operand) & 7);
      }
      case LDMXCSR -> ofMemory(0xae, 2, operand);
      case STMXCSR -> ofMemory(0xae, 3, operand);
      case PREFETCHT0 -> ofMemory(0x18, 1, operand);
      default -> throw refused();
    }
  }

  private void ofMemory(int opcode, int digit, MachineOperand operand) {
    rex(0, operand, 32);
    out.bytes(0x0f, opcode);
    out.modRm(digit, operand, 1);
  }

  private void two(MachineOperand to, MachineOperand from) {
    switch (op.kind) {
      case ARITHMETIC -> arithmetic(to, from);
      case SHIFT -> shift(to, (Immediate) from);
      default -> other(to, from);
    }
  }

  private void other(MachineOperand to, MachineOperand from) {
    switch (op) {
      case MOV -> mov(to, from);
      case MOVZX -> withRegister(to, from, 32, 0x0f, 0xb7);
      case IMUL -> withRegister(to, from, to.bits(), 0x0f, 0xaf);
      case LEA -> withRegister(to, from, to.bits(), 0x8d);
      default -> throw refused();
    }
  }

  private void mov(MachineOperand to, MachineOperand from) {
    if (from instanceof Immediate number) {
      if (!(to instanceof General register) || register.bits() != 32) {
        throw refused();
      }
      rex(0, to, 32);
      out.bytes(0xb8 | register.n() & 7);
      out.int32(number.value());
    } else if (to instanceof InMemory) {
      withRegister(from, to, from.bits(), 0x89);
    } else if (from instanceof InMemory) {
      withRegister(to, from, to.bits(), 0x8b);
    } else {
      withRegister(from, to, to.bits(), 0x89);
    }
  }

  private void shift(MachineOperand to, Immediate count) {
    boolean one = count.value() == 1;
    rex(0, to, to.bits());
    out.bytes(one ? 0xd1 : 0xc1);
    out.modRm(op.number, to, 1);
    if (!one) {
      out.bytes(count.value());
    }
  }

  private void arithmetic(MachineOperand to, MachineOperand from) {
    if (from instanceof Immediate immediate) {
      arithmetic(to, immediate.value());
    } else if (from instanceof InMemory) {
      withRegister(to, from, to.bits(), op.number << 3 | 3);
    } else {
      withRegister(from, to, from.bits(), op.number << 3 | 1);
    }
  }

  private void arithmetic(MachineOperand to, int immediate) {
    boolean small = immediate == (byte) immediate;
    rex(0, to, to.bits());
    if (small) {
      out.bytes(0x83);
      out.modRm(op.number, to, 1);
      out.bytes(immediate);
    } else if (to instanceof General register && register.n() == 0) {
      out.bytes(op.number << 3 | 5);
      out.int32(immediate);
    } else {
      out.bytes(0x81);
      out.modRm(op.number, to, 1);
      out.int32(immediate);
    }
  }

  private void withRegister(MachineOperand register, MachineOperand rm, int bits, int... opcode) {
    if (!(register instanceof General)) {
      throw refused();
    }
    if (bits == 16) {
      out.bytes(0x66);
    }
    rex(Encoding.number(register), rm, bits);
    out.bytes(opcode);
    out.modRm(Encoding.number(register), rm, 1);
  }

  /** The prefix for 64 bits and for registers above 7. */
  private void rex(int reg, MachineOperand rm, int bits) {
    int rex =
        (bits == 64 ? 8 : 0)
            | reg >> 3 << 2
            | Encoding.index(rm) >> 3 << 1
            | Encoding.number(rm) >> 3;
    if (rex != 0) {
      out.bytes(0x40 | rex);
    }
  }

  private IllegalArgumentException refused() {
    return new IllegalArgumentException(instruction.line().strip() + " cannot be encoded");
  }
}
