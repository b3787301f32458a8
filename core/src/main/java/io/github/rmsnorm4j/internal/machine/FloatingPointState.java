package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import java.lang.foreign.MemorySegment;

/**
 * The state of this thread's floating-point unit, the register MXCSR. Native code may have left
 * another one than the JVM's, which Java code then computes in.
 */
public final class FloatingPointState implements AutoCloseable {
  /**
   * No exceptions, rounding to nearest, subnormals as they are: the contract's, and the JVM's own.
   */
  public static final int CONTRACT = 0x1f80;

  /** What instructions note there. */
  private static final int FLAGS = 0x3f;

  private final MemorySegment exchange = ExecutableMemory.of(exchangeCode());

  /** {@code long exchange(state)}: the old state is the upper half of the result. */
  private static Code exchangeCode() {
    Assembler a = new Assembler();
    a.op(GeneralOp.PUSH, General.RDI);
    a.op(GeneralOp.STMXCSR, Address.at(General.RSP, Integer.BYTES));
    a.op(GeneralOp.LDMXCSR, Address.at(General.RSP, 0));
    a.op(GeneralOp.POP, General.RAX);
    a.op(GeneralOp.RET);
    return a.code();
  }

  /**
   * Emits code that loads a state where the caller's is not the contract's.
   *
   * @param label a label of the code, which is bound after it
   * @param callers memory that has the caller's state
   * @param state memory that has the state
   * @param free a register of 32 bits that is overwritten
   */
  public static void emitLoad(
      Assembler a, String label, Address callers, Address state, General free) {
    Label same = a.label(label);
    a.op(GeneralOp.MOV, free, callers);
    a.op(GeneralOp.AND, free, new Immediate(~FLAGS));
    a.op(GeneralOp.CMP, free, new Immediate(CONTRACT));
    a.op(GeneralOp.JE, same);
    a.op(GeneralOp.LDMXCSR, state);
    a.bind(same);
  }

  /** Sets the state; returns the one before. */
  private int exchange(int state) {
    return (int) (NativeCall.of(exchange, state, 0, 0) >>> Integer.SIZE);
  }

  /**
   * Runs something in the contract's state. On a virtual thread it must not wait: such a thread may
   * go on on another thread of the system, which has a state of its own.
   */
  public void inContract(Runnable work) {
    int callers = exchange(CONTRACT);
    try {
      work.run();
    } finally {
      exchange(callers);
    }
  }

  @Override
  public void close() {
    ExecutableMemory.giveBack(exchange);
  }
}
