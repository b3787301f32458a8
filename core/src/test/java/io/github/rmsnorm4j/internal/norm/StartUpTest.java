package io.github.rmsnorm4j.internal.norm;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ChildJvm;
import io.github.rmsnorm4j.RmsNorm;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process begins in plain Java, and goes over to vectors without a change of bits. */
class StartUpTest {
  private static final long SEED = 7;
  private static final int ELEMENTS = 1 << 22;
  private static final int BEFORE_LOOPS = 1 << 26;
  private static final String KERNEL = ".internal.lowering.KernelClass ";

  /** Normalises the same rows before and after so many elements, and says when. */
  static final class Program {
    private static final int WIDTH = 1000;
    private static final int ROWS = 64;

    /** Rows of a call that kernels pay for, and loops do not. */
    private static final int LONG = 100 * ROWS;

    public static void main(String[] args) {
      if (args[0].equals("covers")) {
        System.out.println("covers: " + covers(1) + covers(ELEMENTS - 2) + covers(9) + covers(1));
        return;
      }
      if (args[0].equals("long")) {
        System.out.println("covers: " + covers(ELEMENTS + 1) + covers(1));
        return;
      }
      Backend backend = args[0].equals("vectors") ? vectors() : Backend.best();
      RmsNorm norm = RmsNorm.builder(WIDTH).backend(backend).build();
      SplittableRandom random = new SplittableRandom(SEED);
      float[] x = new float[ROWS * WIDTH];
      for (int i = 0; i < x.length; i++) {
        x[i] = (float) random.nextDouble(-4, 4);
      }
      float[] first = new float[x.length];
      norm.apply(x, first);
      int calls = (args[0].startsWith("loops") ? BEFORE_LOOPS : ELEMENTS) / x.length;
      if (args[0].equals("loops after a long call")) {
        norm.apply(new float[LONG * WIDTH], new float[LONG * WIDTH]);
        calls -= LONG / ROWS;
      }
      float[] y = first.clone();
      for (int call = 1; call < calls; call++) {
        Arrays.fill(y, 0);
        norm.apply(x, y);
      }
      System.out.println("before: " + Arrays.mismatch(y, first));
      for (int call = 0; call < 3; call++) {
        Arrays.fill(y, 0);
        norm.apply(x, y);
      }
      System.out.println("after: " + Arrays.mismatch(y, first));
    }

    private static String covers(long elements) {
      return StartUp.covers(elements, ELEMENTS) ? "true " : "false ";
    }

    private static Backend vectors() {
      return Backend.vector(256);
    }
  }

  private static List<String> run(String backend, boolean machineCode) throws Exception {
    String property = "-Drmsnorm4j.machineCode=" + machineCode;
    List<String> flags = ChildJvm.flags("-Xlog:class+load:stdout", property);
    return ChildJvm.output(flags, Program.class, backend).lines().toList();
  }

  private static boolean loads(List<String> lines, String name) {
    return lines.stream().anyMatch(line -> line.contains(name));
  }

  /** Hidden classes of kernels; their names begin with a small letter. */
  private static List<String> kernels(List<String> lines) {
    String name = ".*\\.internal\\.lowering\\.[a-z]\\w*/0x.*";
    return lines.stream().filter(line -> line.matches(name)).toList();
  }

  @Test
  void theFirstElementsNeedNoKernels() throws Exception {
    Assumptions.assumeTrue(Backend.best().vectorBits() > 0, "no vectors at speed here");
    List<String> lines = run("best", false);
    int before = lines.indexOf("before: -1");
    assertThat(before).as("line of the bits before the change, seed %d", SEED).isPositive();
    assertThat(lines.contains("after: -1")).as("bits after the change, seed %d", SEED).isTrue();
    List<String> start = lines.subList(0, before);
    List<String> rest = lines.subList(before, lines.size());
    assertThat(loads(start, ".internal.kernel.PlainKernel ")).isTrue();
    assertThat(loads(start, KERNEL)).isFalse();
    assertThat(kernels(start)).isEmpty();
    assertThat(loads(start, "jdk.incubator.vector.DoubleVector ")).isFalse();
    assertThat(loads(rest, KERNEL)).isTrue();
    assertThat(kernels(rest)).hasSizeGreaterThanOrEqualTo(3);
  }

  /** Machine code follows plain Java, and the Vector API is never looked at. */
  @Test
  void machineCodeNeedsNoVectors() throws Exception {
    Assumptions.assumeTrue(Backend.hasMachineCode(), "there is no machine code here");
    List<String> lines = run("best", true);
    int before = lines.indexOf("before: -1");
    assertThat(before).as("line of the bits before the change, seed %d", SEED).isPositive();
    assertThat(lines).contains("after: -1");
    String machineKernel = ".internal.lowering.machine.MachineKernel ";
    assertThat(loads(lines.subList(0, before), machineKernel)).isFalse();
    assertThat(loads(lines, machineKernel)).isTrue();
    assertThat(loads(lines, "jdk.incubator.vector.FloatVector ")).isFalse();
    assertThat(loads(lines, KERNEL)).isFalse();
  }

  /** Without flags there are only loops, which follow later. */
  @ParameterizedTest
  @ValueSource(strings = {"loops", "loops after a long call"})
  void loopsFollowLater(String kernels) throws Exception {
    List<String> flags =
        ChildJvm.flags("-Xlog:class+load:stdout").stream()
            .filter(f -> !f.startsWith("--add-modules") && !f.startsWith("--enable-native-access"))
            .toList();
    List<String> lines = ChildJvm.output(flags, Program.class, kernels).lines().toList();
    int before = lines.indexOf("before: -1");
    assertThat(before).as("line of the bits before the change, seed %d", SEED).isPositive();
    assertThat(lines.contains("after: -1")).as("bits after the change, seed %d", SEED).isTrue();
    assertThat(kernels(lines.subList(0, before))).isEmpty();
    assertThat(kernels(lines.subList(before, lines.size()))).hasSizeGreaterThanOrEqualTo(3);
  }

  /** A backend that was asked for is that from the first element on. */
  @Test
  void vectorsThatWereAskedForAreThereAtOnce() throws Exception {
    Assumptions.assumeTrue(Backend.best().vectorBits() > 0, "no vectors at speed here");
    List<String> lines = run("vectors", false);
    int before = lines.indexOf("before: -1");
    assertThat(before).as("line of the bits, seed %d", SEED).isPositive();
    assertThat(kernels(lines.subList(0, before))).hasSizeGreaterThanOrEqualTo(3);
  }

  /** A call that begins before the end of the start is covered whole, unless it is longer. */
  @Test
  void coversTheFirstElementsAlone() throws Exception {
    assertThat(run("covers", false)).contains("covers: true true true false ");
    assertThat(run("long", false)).contains("covers: false false ");
  }
}
