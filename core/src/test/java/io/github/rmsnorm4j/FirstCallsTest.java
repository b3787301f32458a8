package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the first calls of a process load, and when kernels follow, without a change of bits. */
class FirstCallsTest {
  private static final long SEED = 7;
  private static final String ADVICE = "native access is off";

  /** More elements than the first tier does in several rows, and than plain Java does. */
  private static final long MANY = 520_000_000;

  /** Of the library, up to the end of the first call; eight are the choices of a norm. */
  private static final int CLASSES = 19;

  private static final String KERNELS = "io.github.rmsnorm4j.internal.lowering.";

  /** Normalises the same rows again and again. */
  static final class Program {
    /** The arguments: rows, width, elements in all, the type of the rows, the backend or views. */
    public static void main(String[] args) throws Exception {
      int rows = Integer.parseInt(args[0]);
      int width = Integer.parseInt(args[1]);
      ElementType type = ElementType.valueOf(args[3]);
      RmsNorm.Builder builder = RmsNorm.builder(width).threads(1);
      if (args[4].equals("chosen")) {
        builder.backend(Backend.hasMachineCode() ? Backend.machineCode(256) : Backend.loops());
      }
      float[] gain = new float[width];
      Arrays.fill(gain, 1.1f);
      RmsNorm norm = builder.gain(gain).build();
      SplittableRandom random = new SplittableRandom(SEED);
      float[] x = new float[rows * width];
      short[] narrow = new short[x.length];
      for (int i = 0; i < x.length; i++) {
        x[i] = (float) random.nextDouble(-4, 4);
        narrow[i] = (short) (Float.floatToRawIntBits(x[i]) >>> 16);
      }
      boolean views = args[4].equals("views");
      Rows xs = views ? Rows.of(x, width) : rows(narrow, type, width);
      float[] y = new float[x.length];
      short[] narrowY = new short[x.length];
      Rows ys = views ? Rows.of(y, width) : rows(narrowY, type, width);
      call(norm, x, xs, y, ys, rows);
      System.out.println("first");
      float[] first = y.clone();
      short[] narrowFirst = narrowY.clone();
      long calls = Long.parseLong(args[2]) / x.length;
      for (long i = 0; i < calls + 10; i++) {
        if (i >= calls && rows > 1) {
          KernelsReady.await();
        }
        call(norm, x, xs, y, ys, rows);
        if (!Arrays.equals(y, first) || !Arrays.equals(narrowY, narrowFirst)) {
          throw new AssertionError("call " + i + " has other bits");
        }
        y[(int) (i % y.length)] = 0;
        narrowY[(int) (i % y.length)] = 0;
      }
      System.out.println("done");
    }

    private static Rows rows(short[] narrow, ElementType type, int width) {
      return type == ElementType.FLOAT32 ? null : Rows.of(narrow, type, width);
    }

    /** Without Rows, which load classes, for float32. */
    private static void call(Norm norm, float[] x, Rows xs, float[] y, Rows ys, int rows) {
      if (xs == null) {
        norm.apply(x, 0, y, 0, rows);
      } else {
        norm.apply(xs, ys);
      }
    }
  }

  /** Classes that were loaded before the first call was done, and then; and what was logged. */
  private record Loaded(List<String> first, List<String> then, List<String> lines) {
    boolean isKernelFirst() {
      return first.stream().anyMatch(name -> name.startsWith(KERNELS));
    }

    boolean isKernelThen() {
      return then.stream().anyMatch(name -> name.startsWith(KERNELS));
    }
  }

  private static Loaded run(List<String> flags, Object... args) throws Exception {
    List<String> all = new ArrayList<>(flags);
    all.add("-Xlog:class+load:stdout");
    String[] words =
        Arrays.stream(args)
            .map(arg -> arg instanceof Enum<?> type ? type.name() : arg.toString())
            .toArray(String[]::new);
    List<String> lines = ChildJvm.output(all, Program.class, words).lines().toList();
    assertThat(lines).as("seed %d", SEED).contains("first", "done");
    int end = lines.indexOf("first");
    return new Loaded(
        classes(lines.subList(0, end)), classes(lines.subList(end, lines.size())), lines);
  }

  private static List<String> classes(List<String> lines) {
    String library = ".* io\\.github\\.rmsnorm4j\\..*";
    return lines.stream()
        .filter(line -> line.matches(library) && !line.contains("FirstCallsTest"))
        .map(line -> line.replaceFirst(".* (io\\.github\\.rmsnorm4j\\.\\S+).*", "$1"))
        .toList();
  }

  /** With both flags, and with none. */
  private static List<String> flags(boolean some) {
    return some ? ChildJvm.flags() : List.of();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void singleRowsLoadFewClassesAndStay(boolean flags) throws Exception {
    Loaded loaded = run(flags(flags), 1, 4096, MANY, ElementType.FLOAT32, "best");
    assertThat(loaded.first).hasSizeLessThanOrEqualTo(CLASSES);
    assertThat(loaded.then).noneMatch(name -> name.contains(".internal."));
    assertThat(loaded.lines).noneMatch(line -> line.contains(ADVICE));
  }

  /** The views and the checks of their memory, and no class that the JVM makes for a switch. */
  @Test
  void viewsOfArraysLoadFewMore() throws Exception {
    Loaded loaded = run(flags(true), 1, 4096, 1 << 20, ElementType.FLOAT32, "views");
    assertThat(loaded.first).hasSizeLessThanOrEqualTo(CLASSES + 8);
    assertThat(loaded.lines).noneMatch(line -> line.contains("TypeSwitch"));
  }

  @Test
  void severalRowsGetAKernelThatPays() throws Exception {
    Assumptions.assumeTrue(Backend.best().vectorBits() > 0, "no vectors at speed here");
    Loaded loaded = run(flags(true), 64, 1000, MANY, ElementType.FLOAT32, "best");
    assertThat(loaded.first).as("Payoff, too").hasSizeLessThanOrEqualTo(CLASSES + 1);
    assertThat(loaded.isKernelThen()).isTrue();
    boolean vectors = loaded.lines.stream().anyMatch(line -> line.contains(".FloatVector "));
    assertThat(vectors).as("the Vector API is loaded").isEqualTo(!Backend.hasMachineCode());
  }

  /** Without flags loops are faster in narrow rows only, and the advice comes once. */
  @ParameterizedTest
  @ValueSource(ints = {512, 544})
  void withoutFlagsWideRowsStay(int width) throws Exception {
    Loaded loaded = run(flags(false), 128, width, MANY, ElementType.FLOAT32, "best");
    boolean hidden = loaded.then.stream().anyMatch(name -> name.matches(".*lowering\\.\\w+/0x.*"));
    assertThat(hidden).isEqualTo(width == 512);
    assertThat(loaded.lines.stream().filter(line -> line.contains(ADVICE))).hasSize(1);
  }

  @Test
  void otherCallsBeginInPlainJava() throws Exception {
    Loaded loaded = run(flags(true), 64, 1000, 5_000_000, ElementType.BFLOAT16, "best");
    assertThat(loaded.isKernelFirst()).isFalse();
    assertThat(loaded.first).anyMatch(name -> name.endsWith(".internal.kernel.PlainKernel"));
    assertThat(loaded.isKernelThen()).isTrue();
  }

  /** A backend that was asked for is that from the first row on. */
  @Test
  void aChosenBackendServesTheFirstCall() throws Exception {
    Loaded loaded = run(flags(true), 1, 1000, 1000, ElementType.FLOAT32, "chosen");
    assertThat(loaded.isKernelFirst()).isTrue();
    assertThat(loaded.first).noneMatch(name -> name.contains(".internal.first.Lanes"));
  }
}
