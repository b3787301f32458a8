package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import java.util.ArrayList;
import java.util.List;

/** The interpreter, as other packages use it. */
public final class InterpretedCode {
  private static final List<General> ARGUMENTS =
      List.of(General.RDI, General.RSI, General.RDX, General.RCX, General.R8, General.R9);

  private final Interpreter interpreter;
  private final Code code;

  /** Of some code, and a caller with a state of the floating-point unit. */
  public InterpretedCode(Code code, int callersState) {
    this.code = code;
    interpreter = new Interpreter(code, callersState);
  }

  /** Adds memory. */
  public void memory(long address, byte[] bytes, boolean writable) {
    interpreter.memory.add(address, bytes.length, writable).set(0, bytes);
  }

  /** Adds memory that may be written, of which nothing is known. */
  public void unknown(long address, int size) {
    interpreter.memory.add(address, size, true);
  }

  /** Sets memory that was added. */
  public void set(long address, byte[] bytes) {
    interpreter.memory.set(address, bytes);
  }

  /** Runs it with arguments: the first six in registers, others on the stack. */
  public long run(List<Long> arguments) {
    for (int i = 0; i < arguments.size(); i++) {
      if (i < ARGUMENTS.size()) {
        interpreter.set(ARGUMENTS.get(i), arguments.get(i));
      } else {
        interpreter.setOnStack(i - ARGUMENTS.size(), arguments.get(i));
      }
    }
    return interpreter.run();
  }

  /** Copies memory from an address on. */
  public void copy(byte[] into, long address) {
    byte[] bytes = interpreter.memory.load(address, into.length);
    System.arraycopy(bytes, 0, into, 0, into.length);
  }

  /** Instructions that were never run, with their places. */
  public List<String> unreached() {
    List<String> unreached = new ArrayList<>();
    for (int i = 0; i < interpreter.counts.length; i++) {
      if (code.lines().get(i) instanceof Instruction instruction && interpreter.counts[i] == 0) {
        unreached.add(i + ": " + instruction.line().strip());
      }
    }
    return unreached;
  }
}
