package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.InMemory;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Encodes instructions on vectors: as VEX if possible, and as EVEX for 512 bits, for masks and for
 * registers above 15.
 */
final class VectorEncoder {
  private final Instruction instruction;
  private final VectorOp op;
  private final Encoding out = new Encoding();

  /** The operands by their places in the encoding. */
  private final @Nullable MachineOperand reg;

  private final @Nullable MachineOperand vvvv;
  private final MachineOperand rm;

  /** The number or the register after them, or null. */
  private final @Nullable MachineOperand last;

  /** The width of the longest vector. */
  private final int bits;

  private VectorEncoder(Instruction instruction, VectorOp op) {
    this.instruction = instruction;
    this.op = op;
    List<MachineOperand> all = instruction.operands();
    int used = op.form == VectorOp.Form.OF_TWO ? 3 : 2;
    require(all.size() == used || all.size() == used + 1, "has not as many operands");
    reg =
        switch (op.form) {
          case FROM, OF_TWO -> all.get(0);
          case TO -> all.get(1);
          case SHIFT -> null;
        };
    vvvv =
        switch (op.form) {
          case OF_TWO -> all.get(1);
          case SHIFT -> all.get(0);
          case FROM, TO -> null;
        };
    rm = op.form == VectorOp.Form.TO ? all.get(0) : all.get(used - 1);
    last = all.size() > used ? all.get(used) : null;
    require(!(rm instanceof InMemory) || op.inMemory != null, "has no operand in memory");
    int longest = Math.max(bits(reg), bits(vvvv));
    boolean counts = op.inMemory == VectorOp.InMemory.WHOLE || op.inMemory == null;
    bits = Math.max(128, Math.max(longest, counts || longest == 0 ? bits(rm) : 0));
  }

  static Encoding encode(Instruction instruction, VectorOp op) {
    VectorEncoder encoder = new VectorEncoder(instruction, op);
    encoder.encode();
    return encoder.out;
  }

  private static int bits(@Nullable MachineOperand operand) {
    return operand instanceof Vector v ? v.bits() : 0;
  }

  private void require(boolean condition, String message) {
    if (!condition) {
      throw new IllegalArgumentException(instruction.line().strip() + " " + message);
    }
  }

  private void encode() {
    boolean evex = isEvex();
    boolean compares = op == VectorOp.VCMPPS || op == VectorOp.VCMPPD;
    require(!compares || evex == (reg instanceof Mask), "compares to the wrong kind of register");
    require(evex ? op.evexW >= 0 : op.vexW >= 0, "has no encoding " + (evex ? "EVEX" : "VEX"));
    if (evex) {
      evex();
    } else {
      vex();
    }
    out.bytes(op.opcode);
    int scale = evex && op.inMemory != null ? op.inMemory.bytes(bits) : 1;
    out.modRm(op.digit >= 0 ? op.digit : number(reg), rm, scale);
    if (last instanceof Immediate immediate) {
      out.bytes(immediate.value());
    } else if (last != null) {
      out.bytes(Encoding.number(last) << 4);
    }
  }

  private boolean isEvex() {
    boolean high = isHigh(reg) || isHigh(vvvv) || isHigh(rm);
    boolean toMask = reg instanceof Mask && op.evexW >= 0;
    boolean shiftsMemory = op.form == VectorOp.Form.SHIFT && rm instanceof InMemory;
    return op.vexW < 0
        || shiftsMemory
        || bits == 512
        || instruction.mask() != null
        || high
        || toMask;
  }

  private static boolean isHigh(@Nullable MachineOperand operand) {
    return operand instanceof Vector v && v.n() > 15;
  }

  private int number(@Nullable MachineOperand operand) {
    return operand == null ? 0 : Encoding.number(operand);
  }

  /** The fourth bits of registers are inverted. */
  private void vex() {
    int r = ~number(reg) >> 3 & 1;
    int x = ~Encoding.index(rm) >> 3 & 1;
    int b = ~number(rm) >> 3 & 1;
    int rest = (~number(vvvv) & 15) << 3 | (bits == 256 ? 4 : 0) | op.prefix;
    if (op.map == 1 && op.vexW == 0 && x == 1 && b == 1) {
      out.bytes(0xc5, r << 7 | rest);
    } else {
      out.bytes(0xc4, r << 7 | x << 6 | b << 5 | op.map, op.vexW << 7 | rest);
    }
  }

  /** The fourth and fifth bits of registers are inverted. */
  private void evex() {
    int r = ~number(reg) >> 3 & 1;
    int r5 = ~number(reg) >> 4 & 1;
    int x = rm instanceof Vector v ? ~v.n() >> 4 & 1 : ~Encoding.index(rm) >> 3 & 1;
    int b = ~number(rm) >> 3 & 1;
    int v5 = ~number(vvvv) >> 4 & 1;
    int length = bits == 512 ? 2 : bits == 256 ? 1 : 0;
    int mask = instruction.mask() == null ? 0 : instruction.mask().n();
    out.bytes(
        0x62,
        r << 7 | x << 6 | b << 5 | r5 << 4 | op.map,
        op.evexW << 7 | (~number(vvvv) & 15) << 3 | 4 | op.prefix,
        length << 5 | v5 << 3 | mask);
  }
}
