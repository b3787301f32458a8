package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Rows that end, and rows that begin, where memory does, in a JVM of its own: a kernel that touches
 * anything else ends it.
 */
class GuardPagesTest {
  private static final List<Integer> WIDE =
      List.of(
          1000, 1023, 1024, 1025, 1055, 2048, 4095, 4096, 4097, 65_535, 65_536, 65_537, 131_103,
          200_000);

  @Test
  @EnabledOnOs(OS.LINUX)
  void noKernelLeavesItsRows(@TempDir Path folder) throws Exception {
    List<String> flags =
        ChildJvm.flags(
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=" + folder.resolve("crash"),
            "-Dtests.all=" + Backends.ALL_DRAWS);
    String output = ChildJvm.output(flags, Guarded.class);
    assertThat(output).contains("calls between guard pages").doesNotContain("is not used");
    assertThat(output.contains("machine code,")).isEqualTo(!Backends.machineCode().isEmpty());
  }

  /** Calls on such rows. */
  static final class Guarded {
    private static final int BYTES = 1 << 21;
    private static final int STREAMED = 1 << 24;

    /** After so many calls one more has quantised output. */
    private static final int QUANTIZED = 8;

    private Guarded() {}

    public static void main(String[] args) {
      SplittableRandom random = new SplittableRandom(5);
      List<Backend> backends = new ArrayList<>(List.of(Backends.VECTORS));
      backends.addAll(Backends.machineCode());
      int calls = 0;
      try (GuardedMemories memories = GuardedMemories.of(BYTES)) {
        for (int width : widths()) {
          for (Backend backend : backends) {
            for (boolean atEnd : new boolean[] {false, true}) {
              new GuardedForward(random, width, atEnd, backend).check(memories);
              new GuardedBackward(random, width, atEnd, backend).check(memories);
              calls += 2;
              if (random.nextInt(QUANTIZED) == 0) {
                new GuardedQuantized(random, width, atEnd, backend).check(memories);
                calls++;
              }
            }
          }
        }
      }
      calls += longOutputs();
      System.out.println(calls + " calls between guard pages on " + backends);
    }

    /**
     * Outputs past the caches: their kernels prefetch, and prefetch what is behind the last row.
     */
    private static int longOutputs() {
      int calls = 0;
      try (GuardedMemory x = new GuardedMemory(STREAMED);
          GuardedMemory y = new GuardedMemory(STREAMED)) {
        for (ElementType type : ElementType.values()) {
          for (int width : new int[] {64, 4096}) {
            int rows = STREAMED / type.bytes() / width;
            Rows in = Rows.of(x.bytes(STREAMED, true), type, rows, width);
            Rows out = Rows.of(y.bytes(STREAMED, true), type, rows, width);
            for (Backend backend : Backends.machineCode()) {
              RmsNorm.builder(width).backend(backend).build().apply(in, out);
              calls++;
            }
          }
        }
      }
      return calls;
    }

    private static List<Integer> widths() {
      List<Integer> widths = new ArrayList<>();
      for (int width = 1; width <= 300; width++) {
        boolean mayBeTail = width < 50 || width >= 64 && width < 80;
        if (Backends.ALL_DRAWS || mayBeTail || width % 32 <= 1 || width % 32 == 31) {
          widths.add(width);
        }
      }
      widths.addAll(WIDE);
      return widths;
    }
  }
}
