package io.github.rmsnorm4j.internal.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each instruction does on this processor what it does in the interpreter: to every register, bit
 * by bit, to memory and to conditions. So what the interpreter says of kernels holds here, too. NaN
 * has to be the same one, though the contract leaves that open.
 *
 * <p>Instructions that calculate nothing are left out, and those that the interpreter refuses.
 */
class HardwareTest {
  /** Of each instruction, with other operands. */
  private static final int DRAWN = 40;

  /** Times that each of them is run, with other numbers. */
  private static final int RUNS = 16;

  /** The state of the floating-point unit that the JVM keeps, and the contract asks for. */
  private static final int CONTRACT = 0x1f80;

  private static Processor processor;
  private static MethodHandle call;

  @BeforeAll
  @SuppressWarnings("restricted")
  static void needsMachineCode() {
    assumeThat(Machine.here().bits()).as(Machine.here().whyNot()).isPositive();
    processor = Processor.find();
    call = Linker.nativeLinker().downcallHandle(FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG));
  }

  @ParameterizedTest
  @EnumSource
  void vectors(VectorOp op) {
    int compared = compare(op);
    if (processor.avx512() && (processor.bfloat16() || op != VectorOp.VCVTNE2PS2BF16)) {
      assertThat(compared).isEqualTo(DRAWN);
    } else if (op.vexW >= 0 && !op.name().startsWith("K")) {
      assertThat(compared).isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource(
      names = {"ADD", "AND", "SUB", "XOR", "CMP", "MOV", "MOVZX", "LEA", "IMUL", "SHL", "SAR"})
  void generals(GeneralOp op) {
    assertThat(compare(op)).isEqualTo(DRAWN);
  }

  /** Gives back how many instructions were compared: those that the processor has. */
  private static int compare(Instruction.Op op) {
    int compared = 0;
    for (int i = 0; i < DRAWN; i++) {
      RunnableInstruction instruction =
          RunnableInstruction.of(op, 1000L * op.name().hashCode() + i);
      if (instruction.isOf(processor)) {
        compare(instruction, i);
        compared++;
      }
    }
    return compared;
  }

  private static void compare(RunnableInstruction instruction, int seed) {
    Code code = Probe.of(instruction, processor.avx512());
    MemorySegment function = ExecutableMemory.of(code);
    DrawnNumbers numbers = new DrawnNumbers(seed);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment area = arena.allocate(Probe.BYTES, 64);
      for (int run = 0; run < RUNS; run++) {
        byte[] before = numbers.area(instruction, area.address());
        byte[] expected = interpreted(code, before, area.address());
        byte[] found = run(function, before, area);
        int at = Arrays.mismatch(found, expected);
        if (at >= 0) {
          throw new AssertionError(difference(instruction, at, before, found, expected));
        }
      }
    }
  }

  private static byte[] interpreted(Code code, byte[] before, long address) {
    Interpreter interpreter = new Interpreter(code, CONTRACT);
    interpreter.memory.add(address, before.length, true).set(0, before);
    interpreter.set(MachineOperand.General.RDI, address);
    interpreter.run();
    return interpreter.memory.load(address, before.length);
  }

  private static byte[] run(MemorySegment function, byte[] before, MemorySegment area) {
    area.copyFrom(MemorySegment.ofArray(before));
    try {
      call.invokeExact(function, area.address());
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    return area.toArray(ValueLayout.JAVA_BYTE);
  }

  private static String difference(
      RunnableInstruction instruction, int at, byte[] before, byte[] found, byte[] expected) {
    StringBuilder text = new StringBuilder();
    int element = at & -Long.BYTES;
    text.append(
        "%s leaves %s in %s, the interpreter %s"
            .formatted(
                instruction, hex(found, element), Probe.nameOf(element), hex(expected, element)));
    for (int register : instruction.vectors()) {
      int place = Probe.VECTORS + 64 * register + element % 64;
      text.append("; vector %d had %s there".formatted(register, hex(before, place)));
    }
    return text.toString();
  }

  private static String hex(byte[] bytes, int at) {
    long pattern = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(at);
    return HexFormat.of().toHexDigits(pattern);
  }
}
