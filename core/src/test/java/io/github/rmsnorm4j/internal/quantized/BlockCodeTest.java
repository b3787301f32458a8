package io.github.rmsnorm4j.internal.quantized;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.ChildJvm;
import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.GuardedMemory;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.lowering.machine.Machine;
import io.github.rmsnorm4j.internal.machine.CallersState;
import io.github.rmsnorm4j.internal.machine.ExecutableMemory;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The machine code of blocks has the bytes of plain Java, and touches no more memory than it may:
 * in a JVM of its own, which ends if it does.
 */
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
    int roundsUp = CallersState.FLUSHES | 0x4000;
    for (Made made : all(Machine.here().bits())) {
      MachineBlocks.Kind kind = new MachineBlocks.Kind(made.format, made.rule, made.bits);
      boolean[] passes = new boolean[1];
      int after =
          CallersState.during(
              roundsUp,
              () -> {
                MachineBlocks blocks = new MachineBlocks(kind);
                passes[0] = blocks.passes();
                ExecutableMemory.giveBack(blocks.code());
              });
      assertThat(after).isEqualTo(roundsUp);
      assertThat(passes[0]).as("%s", made).isTrue();
    }
  }

  /**
   * The quotient of the machine code is on the same side of each number between two codes as the
   * one that is rounded once, or both are that number: for every significand of a divisor, and the
   * elements around the product. Other exponents give the same digits.
   */
  @Test
  void quotientsHaveTheCodesOfQuotientsRoundedOnce() {
    long wrong =
        IntStream.range(0, 1 << 23)
            .parallel()
            .mapToLong(fraction -> wrong(Float.intBitsToFloat(0x3f800000 | fraction)))
            .sum();
    assertThat(wrong).isZero();
  }

  private static long wrong(float divisor) {
    float inverse = 1 / divisor;
    long wrong = 0;
    for (int sixteenths = 16; sixteenths < 32; sixteenths++) {
      float between = sixteenths / 16f;
      int product = Float.floatToRawIntBits(divisor * between);
      for (int pattern = product - 2; pattern <= product + 2; pattern++) {
        float y = Float.intBitsToFloat(pattern);
        float first = y * inverse;
        float second = Math.fma(Math.fma(-first, divisor, y), inverse, first);
        float once = y / divisor;
        boolean same = once > between == second > between && once < between == second < between;
        wrong += same ? 0 : 1;
      }
    }
    return wrong;
  }

  /** What a function is made for. */
  private record Made(CodeFormat format, CodeRule rule, int bits) {
    /** Elements of a block that it serves, and blocks that it does together. */
    int block(SplittableRandom random) {
      int least = format.block();
      return least < bits / 8 || format.layout() == CodeLayout.Q8_0
          ? least
          : least * (1 + random.nextInt(3));
    }

    int together() {
      return Math.max(1, bits / 8 / format.block());
    }
  }

  /** All functions that there are. */
  private static List<Made> all(int mostBits) {
    List<Made> all = new ArrayList<>();
    for (int bits = 256; bits <= mostBits; bits *= 2) {
      for (int block = 32; block <= bits / 8; block *= 2) {
        for (CodeFactor factor : new CodeFactor[] {CodeFactor.RATIO, CodeFactor.INVERSE}) {
          CodeRule rule = new CodeRule(factor, CodeRounding.EVEN, ScaleFloor.NONE);
          if (block == 32) {
            all.add(new Made(new CodeFormat(CodeLayout.Q8_0, 32, null, false), rule, bits));
          }
          for (ScaleFloor floor : ScaleFloor.values()) {
            rule = new CodeRule(factor, CodeRounding.EVEN, floor);
            for (Float8 type : new Float8[] {null, Float8.E4M3, Float8.E5M2}) {
              all.add(new Made(new CodeFormat(CodeLayout.APART, block, type, false), rule, bits));
            }
          }
        }
      }
    }
    return all;
  }

  /** Calls between guard pages. */
  static final class Guarded {
    private static final int BYTES = 1 << 16;
    private static final int MOST_BLOCKS = 140;
    private static final int CALLS = 60;

    private Guarded() {}

    @SuppressWarnings("restricted")
    public static void main(String[] args) throws Throwable {
      MethodHandle handle =
          Linker.nativeLinker()
              .downcallHandle(
                  FunctionDescriptor.ofVoid(
                      JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));
      SplittableRandom random = new SplittableRandom(2);
      try (GuardedMemory elements = new GuardedMemory(2 * BYTES);
          GuardedMemory scales = new GuardedMemory(BYTES);
          GuardedMemory codes = new GuardedMemory(BYTES)) {
        for (Made made : all(Machine.here().bits())) {
          MemorySegment code = ExecutableMemory.of(BlockCode.of(made.format, made.rule, made.bits));
          for (int call = 0; call < CALLS; call++) {
            int block = made.block(random);
            int most = Math.min(MOST_BLOCKS, 2 * BYTES / Float.BYTES / block);
            int blocks = random.nextInt(1, most / made.together() + 1) * made.together();
            boolean atEnd = random.nextBoolean();
            int n = blocks * block;
            float[] y = drawn(random, n, made.format);
            int bytes = blocks * (block + made.format.layout().more);
            int offset = random.nextInt(3);
            MemorySegment from = elements.bytes((long) n * Float.BYTES, atEnd);
            MemorySegment.copy(y, 0, from, JAVA_FLOAT_UNALIGNED, 0, n);
            int numbers = Float.BYTES * (blocks + MachineBlocks.SLACK);
            MemorySegment intoScales = scales.bytes(numbers, atEnd);
            MemorySegment into = codes.bytes(bytes + offset, atEnd);
            handle.invokeExact(
                code, (long) blocks, (long) (block / 32), from, into, intoScales, (long) offset);
            byte[] wanted = new byte[bytes];
            float[] wantedScales = new float[blocks];
            new Encoder(made.format, made.rule).encode(y, n, block, 0, wanted, wantedScales);
            assertThat(into.asSlice(offset).toArray(JAVA_BYTE)).as("%s", made).isEqualTo(wanted);
            for (int b = 0; made.format.layout() == CodeLayout.APART && b < blocks; b++) {
              int scale = intoScales.get(JAVA_INT_UNALIGNED, (long) b * Float.BYTES);
              assertThat(scale).isEqualTo(Float.floatToRawIntBits(wantedScales[b]));
            }
          }
        }
      }
      System.out.println("all calls are right");
    }

    /** Numbers of all sizes, with ties; some groups of 32 have nothing, a NaN or an infinity. */
    private static float[] drawn(SplittableRandom random, int n, CodeFormat format) {
      float[] y = new float[n];
      boolean odd = random.nextInt(3) == 0;
      int exponent = random.nextInt(-160, 127);
      for (int from = 0; from < n; from += 32) {
        boolean power = random.nextInt(3) == 0;
        double size = Math.scalb(power ? 1 : random.nextDouble(1, 2), exponent);
        boolean ties = random.nextInt(3) > 0;
        for (int i = from; i < from + 32; i++) {
          double part = ties ? tie(random, format.float8()) : random.nextDouble(-1, 1);
          y[i] = (float) (part * size);
        }
        y[from + random.nextInt(32)] = (float) (random.nextBoolean() ? size : -size);
        if (odd && random.nextInt(4) == 0) {
          Arrays.fill(y, from, from + 32, random.nextBoolean() ? 0f : -0f);
          float[] all = {0, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY};
          y[from + random.nextInt(32)] = all[random.nextInt(4)];
        }
        exponent = random.nextInt(4) == 0 ? random.nextInt(-160, 127) : exponent;
      }
      return y;
    }

    /** Between two codes, or a code, if the largest element has size 1. */
    private static double tie(SplittableRandom random, Float8 type) {
      if (type == null) {
        return random.nextInt(-254, 255) / 254.0;
      }
      int code = random.nextInt(type == Float8.E4M3 ? 0x7e : 0x7b);
      double tie = (type.decode((byte) code) + type.decode((byte) (code + 1))) / 2.0;
      return (random.nextBoolean() ? tie : -tie) / type.largest;
    }
  }
}
