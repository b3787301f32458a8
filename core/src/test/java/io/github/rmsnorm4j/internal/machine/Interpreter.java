package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Constant;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs the instructions that the bytes of some code were made from, one by one, on any machine. It
 * refuses memory that is not there, registers that were never written, arithmetic in another state
 * of the floating-point unit than the contract's, and returns that leave something undone.
 */
final class Interpreter {
  private static final int CONTRACT = 0x1f80;
  private static final int FLAGS = 0x3f;
  private static final long STACK = 0x7000_0000_0000L;

  /** Bytes for what the code pushes, and as many for what the caller has pushed. */
  private static final int ROOM = 256;

  private static final long CONSTANTS = 0x6000_0000_0000L;
  private static final long STEPS = 200_000_000;

  final Memories memory = new Memories();
  final VectorRegisters vectors = new VectorRegisters();
  private final long[] general = new long[16];
  private final boolean[] known = new boolean[16];
  private final Map<Label, Long> constants = new IdentityHashMap<>();
  private final Map<Label, Integer> labels = new IdentityHashMap<>();
  private final List<Line> lines;

  /** What the caller left. */
  private final int callersState;

  final Flags flags = new Flags();
  private int state;
  private boolean unfenced;

  /** How often each line was run. */
  final int[] counts;

  Interpreter(Code code, int callersState) {
    lines = code.lines();
    counts = new int[lines.size()];
    this.callersState = callersState;
    state = callersState;
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i) instanceof Label label) {
        labels.put(label, i);
      }
    }
    long at = CONSTANTS;
    for (Assembler.Data data : code.constants()) {
      Memories.Piece piece = memory.add(at, data.patterns().size() * Long.BYTES, false);
      ByteBuffer bytes = ByteBuffer.allocate(piece.bytes.length).order(ByteOrder.LITTLE_ENDIAN);
      data.patterns().forEach(bytes::putLong);
      piece.set(0, bytes.array());
      constants.put(data.label(), at);
      at += 1 << 20;
    }
    memory.add(STACK, 2 * ROOM, true);
    set(General.RSP, STACK + ROOM);
    for (General kept : kept()) {
      set(kept, 0x1234_5678_0000L + kept.n());
    }
  }

  private static List<General> kept() {
    return List.of(General.RBX, General.RBP, General.R12, General.R13, General.R14, General.R15);
  }

  void set(General register, long value) {
    general[register.n()] = register.bits() == 64 ? value : value & 0xffff_ffffL;
    known[register.n()] = true;
  }

  /** Sets an argument of those on the stack, behind the return address. */
  void setOnStack(int argument, long value) {
    put(Address.at(General.RSP, (1 + argument) * Long.BYTES), value, 64);
  }

  long get(General register) {
    if (!known[register.n()]) {
      throw new AssertionError(register + " was never written");
    }
    long value = general[register.n()];
    return register.bits() == 64 ? value : register.bits() == 32 ? (int) value : (short) value;
  }

  /** Runs to the return; gives back rax. */
  long run() {
    int line = 0;
    for (long step = 0; step < STEPS; step++) {
      if (lines.get(line) instanceof Instruction instruction) {
        counts[line]++;
        try {
          if (instruction.op() == GeneralOp.RET) {
            requireDone();
            return get(General.RAX);
          }
          line = run(instruction, line);
        } catch (AssertionError | RuntimeException e) {
          throw new AssertionError(instruction.line().strip() + ": " + e.getMessage(), e);
        }
      } else {
        line++;
      }
    }
    throw new AssertionError("still running after " + STEPS + " instructions");
  }

  private void requireDone() {
    if (unfenced) {
      throw new AssertionError("streaming stores without sfence");
    }
    if (vectors.areDirty()) {
      throw new AssertionError("upper halves of vectors are left dirty");
    }
    if ((state & ~FLAGS) != (callersState & ~FLAGS)) {
      throw new AssertionError("the caller's state of the floating-point unit is not put back");
    }
    if (get(General.RSP) != STACK + ROOM) {
      throw new AssertionError("the stack is not as it was");
    }
    for (General register : kept()) {
      if (get(register) != 0x1234_5678_0000L + register.n()) {
        throw new AssertionError(register + " is not as it was");
      }
    }
  }

  /** Runs one instruction; the line of the next one. */
  private int run(Instruction instruction, int line) {
    switch (instruction.op()) {
      case VectorOp op -> {
        if (VectorRegisters.isArithmetic(op) && (state & ~FLAGS) != CONTRACT) {
          throw new AssertionError("arithmetic in the caller's state of the floating-point unit");
        }
        if (op == VectorOp.VMOVNTPS_TO) {
          unfenced = true;
          requireAligned(instruction.operands());
        }
        new VectorStep(this, instruction, op).run();
      }
      case GeneralOp op when op.jumps() -> {
        if (flags.holds(op)) {
          return labels.get((Label) instruction.operands().getFirst());
        }
      }
      case GeneralOp op -> run(op, instruction.operands());
    }
    return line + 1;
  }

  private void requireAligned(List<MachineOperand> operands) {
    long address = address((MachineOperand.InMemory) operands.getFirst());
    if (address % (operands.get(1).bits() / 8) != 0) {
      throw new AssertionError("writes past the caches to where it is not aligned");
    }
  }

  /** Of a register, of memory of so many bits, or of a number. */
  private long value(MachineOperand operand, int bits) {
    return switch (operand) {
      case General g -> get(g);
      case Immediate i -> i.value();
      case MachineOperand.InMemory m -> {
        byte[] bytes = memory.load(address(m), bits / 8);
        ByteBuffer all = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).put(bytes);
        yield bits == 64 ? all.getLong(0) : bits == 32 ? all.getInt(0) : all.getShort(0);
      }
      default -> throw new AssertionError(operand + " is not interpreted");
    };
  }

  long address(MachineOperand.InMemory operand) {
    return switch (operand) {
      case Constant c -> constants.get(c.label());
      case Address a ->
          get(a.base()) + (a.index() == null ? 0 : get(a.index()) * a.scale()) + a.displacement();
    };
  }

  private void put(MachineOperand to, long value, int bits) {
    if (to instanceof General register) {
      set(register, value);
      return;
    }
    byte[] bytes = new byte[bits / 8];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (value >> 8 * i);
    }
    memory.store(address((MachineOperand.InMemory) to), bytes);
  }

  private void run(GeneralOp op, List<MachineOperand> operands) {
    MachineOperand to = operands.isEmpty() ? null : operands.getFirst();
    MachineOperand from = operands.size() < 2 ? null : operands.get(1);
    int bits = Math.max(to == null ? 0 : to.bits(), from == null ? 0 : from.bits());
    switch (op) {
      case MOV -> put(to, value(from, bits), bits);
      case MOVZX -> put(to, value(from, 16) & 0xffff, 32);
      case LEA -> put(to, address((MachineOperand.InMemory) from), 64);
      case PUSH -> {
        set(General.RSP, get(General.RSP) - 8);
        put(Address.at(General.RSP, 0), value(to, 64), 64);
      }
      case POP -> {
        put(to, value(Address.at(General.RSP, 0), 64), 64);
        set(General.RSP, get(General.RSP) + 8);
      }
      case STMXCSR -> put(to, state, 32);
      case LDMXCSR -> state = (int) value(to, 32);
      case SFENCE -> unfenced = false;
      case PREFETCHT0 -> address((MachineOperand.InMemory) to);
      case VZEROUPPER -> vectors.zeroUpper();
      case SHL, SAR -> {
        long value = value(to, bits);
        long by = value(from, bits);
        put(to, op == GeneralOp.SHL ? value << by : value >> by, bits);
        flags.shifted(value(to, bits));
      }
      case IMUL -> {
        put(to, value(to, bits) * value(from, bits), bits);
        flags.undefined();
      }
      case CMP -> flags.compared(value(to, bits), value(from, bits));
      default -> calculate(op, to, from, bits);
    }
  }

  private void calculate(GeneralOp op, MachineOperand to, MachineOperand from, int bits) {
    if (op == GeneralOp.XOR && to.equals(from)) {
      // What the register has does not matter.
      set((General) to, 0);
    }
    long left = value(to, bits);
    long right = value(from, bits);
    long result =
        switch (op) {
          case ADD -> left + right;
          case SUB -> left - right;
          case AND -> left & right;
          case XOR -> left ^ right;
          default -> throw new AssertionError(op + " is not interpreted");
        };
    put(to, result, bits);
    switch (op) {
      case ADD -> flags.added(left, right, bits);
      case SUB -> flags.compared(left, right);
      default -> flags.combined(result);
    }
  }
}
