package io.github.rmsnorm4j.internal.machine;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Another state of this thread's floating-point unit, as native code may have left it. */
public final class CallersState {
  /** As the JVM has it. */
  public static final int OF_JVM = 0x1f80;

  /** Flushes to zero, and takes subnormals as zero. */
  public static final int FLUSHES = OF_JVM | 0x8040;

  private static final int FLAGS = 0x3f;
  private static final MethodHandle GET = function(GeneralOp.STMXCSR);
  private static final MethodHandle SET = function(GeneralOp.LDMXCSR);

  private CallersState() {}

  @SuppressWarnings("restricted")
  private static MethodHandle function(GeneralOp op) {
    Assembler a = new Assembler();
    a.op(op, Address.at(General.RDI, 0));
    a.op(GeneralOp.RET);
    return Linker.nativeLinker()
        .downcallHandle(ExecutableMemory.of(a.code()), FunctionDescriptor.ofVoid(JAVA_LONG));
  }

  /**
   * Runs something in another state. Java code counts on the JVM's own one, so there should be
   * little of it.
   *
   * @return the state that is left, without what instructions note there
   */
  public static int during(int state, Runnable work) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment states = arena.allocateFrom(JAVA_INT, 0, state, 0);
      call(GET, states, 0);
      call(SET, states, 1);
      try {
        work.run();
        call(GET, states, 2);
      } finally {
        call(SET, states, 0);
      }
      return states.getAtIndex(JAVA_INT, 2) & ~FLAGS;
    }
  }

  private static void call(MethodHandle function, MemorySegment states, int index) {
    try {
      function.invokeExact(states.address() + (long) Integer.BYTES * index);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
