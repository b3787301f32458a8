package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.Form;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Forward passes on the interpreter have the bits of the CPU, for drawn calls. */
class ForwardBitsTest {
  private static final long SEED = 20261125;
  private static final int DRAWS = 100;
  private static final int[] WIDTHS = {
    1, 2, 31, 32, 33, 64, 96, 127, 128, 255, 256, 257, 1023, 1024, 1025, 1536, 2047, 2048, 4096
  };

  @Test
  void drawnCallsHaveTheBitsOfTheCpu() {
    Set<String> reached = new TreeSet<>();
    SplittableRandom random = new SplittableRandom(SEED);
    SplittableRandom tiny = new SplittableRandom(SEED + 2);
    for (int draw = 0; draw < DRAWS / 4; draw++) {
      int width = WIDTHS[tiny.nextInt(WIDTHS.length)];
      new ForwardCase(tiny.nextLong(), ElementType.FLOAT64, 8, width, true, reached).check();
    }
    for (int draw = 0; Draws.goOn(draw, DRAWS, () -> missing(reached)); draw++) {
      for (ElementType type : ElementType.values()) {
        int width =
            random.nextInt(3) == 0
                ? random.nextInt(1, 5000)
                : WIDTHS[random.nextInt(WIDTHS.length)];
        int rows = random.nextInt(1, 4 + 6000 / (width + 200));
        new ForwardCase(random.nextLong(), type, rows, width, reached).check();
      }
    }
    assertThat(missing(reached)).as("not reached").isEmpty();
  }

  /** Rows in more shared memory than every device gives unasked. */
  @Test
  void rowsAbove48KiBHaveTheBitsOfTheCpu() {
    Set<String> reached = new TreeSet<>();
    SplittableRandom random = new SplittableRandom(SEED + 2);
    for (ElementType type : ElementType.values()) {
      String asks = "asks for shared memory, " + type;
      for (int draw = 0; draw < 40 && !reached.contains(asks); draw++) {
        int width = random.nextInt(50_000, 70_000) / type.bytes();
        new ForwardCase(random.nextLong(), type, 2, width, reached).check();
      }
      assertThat(reached).contains(asks);
    }
  }

  /** Several super-blocks, and LayerNorm in one pass and in two. */
  @Test
  void wideRowsHaveTheBitsOfTheCpu() {
    Set<String> reached = new TreeSet<>();
    SplittableRandom random = new SplittableRandom(SEED + 1);
    int[] widths = {32_768, 65_535, 65_536, 65_537, 131_072, 200_001};
    for (int w = 0; w < widths.length; w++) {
      for (ElementType type : ElementType.values()) {
        long seed = random.nextLong();
        if (Draws.isInTurn(w / 2 + type.ordinal())) {
          new ForwardCase(seed, type, 1, widths[w], reached).check();
        }
      }
    }
    int twoPasses = (1 << 20) + 1_000;
    for (ElementType type : new ElementType[] {ElementType.BFLOAT16, ElementType.FLOAT64}) {
      long seed = random.nextLong();
      while (!new ForwardCase(seed, type, 1, twoPasses, reached).isCentred()) {
        seed = random.nextLong();
      }
      new ForwardCase(seed, type, 1, twoPasses, reached).check();
    }
    assertThat(reached).contains("BLOCK false SUPER_BLOCK", "BLOCK true SUPER_BLOCK");
  }

  private static Set<String> missing(Set<String> reached) {
    Set<String> wanted = ForwardCase.choices();
    for (Form form : Form.values()) {
      for (String label :
          new String[] {
            "STORE_WIDE", "STORE", "OUT_OF_RANGE", "MANY", "ONE",
            "COPY_WIDE", "COPY_LAST", "COPY_UNALIGNED", "COPY_MANY", "COPY_ONE"
          }) {
        wanted.add(form + " true " + label);
        wanted.add(form + " false " + label);
      }
      for (String label : new String[] {"SCALED_UP", "SCALED_DOWN", "STILL_SCALED"}) {
        wanted.add(form + " true " + label);
      }
    }
    wanted.removeAll(reached);
    return wanted;
  }
}
