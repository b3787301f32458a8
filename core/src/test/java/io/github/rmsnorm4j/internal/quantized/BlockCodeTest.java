package io.github.rmsnorm4j.internal.quantized;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.ChildJvm;
import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.GuardedMemory;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.machine.CallersState;
import io.github.rmsnorm4j.internal.machine.ExecutableMemory;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The machine code of blocks has the bytes of plain Java, and touches no more memory than it may:
 * in a JVM of its own, which ends if it does.
 */
@Timeout(120)
class BlockCodeTest {
  @Test
  void hasTheBytesOfPlainJavaBetweenGuardPages(@TempDir Path folder) throws Exception {
    assumeThat(Machine.here().bits()).as(Machine.here().whyNot()).isPositive();
    List<String> flags =
        ChildJvm.flags("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + folder.resolve("crash"));
    assertThat(ChildJvm.output(flags, Guarded.class)).contains("all calls are right");
  }

  /** The first call may come in another state of the floating-point unit: the code is used. */
  @Test
  void passesItsTrialInAnotherState() {
    assumeThat(Machine.here().bits()).as(Machine.here().whyNot()).isPositive();
    CodeFormat format = new CodeFormat(CodeLayout.APART, 32, null, false);
    int roundsUp = CallersState.FLUSHES | 0x4000;
    MemorySegment[] code = new MemorySegment[1];
    int after =
        CallersState.during(
            roundsUp, () -> code[0] = MachineBlocks.make(format, CodeFactor.INVERSE));
    assertThat(after).isEqualTo(roundsUp);
    assertThat(code[0]).isNotNull();
    ExecutableMemory.giveBack(code[0]);
  }

  /** Calls between guard pages. */
  static final class Guarded {
    private static final int BYTES = 1 << 16;
    private static final int MOST_BLOCKS = 40;

    private Guarded() {}

    @SuppressWarnings("restricted")
    public static void main(String[] args) throws Throwable {
      MethodHandle handle =
          Linker.nativeLinker()
              .downcallHandle(
                  FunctionDescriptor.of(
                      JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
      SplittableRandom random = new SplittableRandom(2);
      try (GuardedMemory elements = new GuardedMemory(2 * BYTES);
          GuardedMemory factors = new GuardedMemory(BYTES);
          GuardedMemory scales = new GuardedMemory(BYTES);
          GuardedMemory codes = new GuardedMemory(BYTES)) {
        for (CodeLayout layout : new CodeLayout[] {CodeLayout.Q8_0, CodeLayout.APART}) {
          for (CodeFactor factor : new CodeFactor[] {CodeFactor.RATIO, CodeFactor.INVERSE}) {
            MemorySegment code =
                ExecutableMemory.of(BlockCode.of(layout, factor == CodeFactor.INVERSE));
            for (int blocks = 1; blocks <= MOST_BLOCKS; blocks++) {
              int groups = layout == CodeLayout.Q8_0 ? 1 : 1 << random.nextInt(3);
              boolean atEnd = random.nextBoolean();
              int block = 32 * groups;
              int n = blocks * block;
              float[] y = drawn(random, n);
              int bytes = blocks * (block + layout.more);
              int numbers = Float.BYTES * (blocks + MachineBlocks.SLACK);
              MemorySegment from = elements.bytes((long) n * Float.BYTES, atEnd);
              MemorySegment.copy(y, 0, from, JAVA_FLOAT_UNALIGNED, 0, n);
              MemorySegment intoScales = scales.bytes(numbers, atEnd);
              MemorySegment into = codes.bytes(bytes, atEnd);
              long done =
                  (long)
                      handle.invokeExact(
                          code,
                          (long) blocks,
                          (long) groups,
                          from,
                          factors.bytes(numbers, atEnd),
                          intoScales,
                          into);
              byte[] wanted = new byte[bytes];
              float[] wantedScales = new float[blocks];
              CodeFormat format = new CodeFormat(layout, block, null, false);
              CodeRule rule = new CodeRule(factor, CodeRounding.EVEN, ScaleFloor.NONE);
              new Encoder(format, rule, false).encode(y, n, block, 0, wanted, wantedScales);
              assertThat(done).isEqualTo(1);
              assertThat(into.toArray(JAVA_BYTE)).isEqualTo(wanted);
              for (int b = 0; layout == CodeLayout.APART && b < blocks; b++) {
                float scale = intoScales.get(JAVA_FLOAT_UNALIGNED, (long) b * Float.BYTES);
                assertThat(scale).isEqualTo(wantedScales[b]);
              }
            }
          }
        }
      }
      System.out.println("all calls are right");
    }

    /** Numbers of all sizes that the code serves, with ties. */
    private static float[] drawn(SplittableRandom random, int n) {
      float[] y = new float[n];
      for (int from = 0; from < n; from += 32) {
        float size = (float) Math.scalb(random.nextDouble(1, 2), random.nextInt(-118, 127));
        boolean ties = random.nextInt(3) == 0;
        for (int i = from; i < from + 32; i++) {
          double part = ties ? random.nextInt(-254, 255) / 254.0 : random.nextDouble(-1, 1);
          y[i] = (float) (part * size);
        }
        y[from + random.nextInt(32)] = size;
      }
      return y;
    }
  }
}
