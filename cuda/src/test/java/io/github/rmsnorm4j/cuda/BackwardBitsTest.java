package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cuda.ptx.Form;
import io.github.rmsnorm4j.internal.device.NormParts;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Backward passes on the interpreter have the bits of the CPU, for drawn calls. */
class BackwardBitsTest {
  private static final long SEED = 20261126;
  private static final int DRAWS = 80;
  private static final int[] WIDTHS = {
    1, 3, 31, 32, 33, 96, 200, 512, 513, 768, 999, 1024, 1025, 1100, 1536, 2304
  };

  @Test
  void drawnCallsHaveTheBitsOfTheCpu() {
    Set<String> reached = new TreeSet<>();
    SplittableRandom random = new SplittableRandom(SEED);
    for (int draw = 0; Draws.goOn(draw, DRAWS, () -> missing(reached)); draw++) {
      for (ElementType type : ElementType.values()) {
        int width = WIDTHS[random.nextInt(WIDTHS.length)];
        int rows = random.nextInt(3) == 0 ? 1 + random.nextInt(140 - width / 20) : 3;
        new BackwardCase(random.nextLong(), type, rows, width, reached).check();
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
        int width = random.nextInt(25_000, 35_000) / type.bytes();
        new BackwardCase(random.nextLong(), type, 2, width, reached).check();
      }
      assertThat(reached).contains(asks);
    }
  }

  @Test
  void wideRowsHaveTheBitsOfTheCpu() {
    Set<String> reached = new TreeSet<>();
    SplittableRandom random = new SplittableRandom(SEED + 1);
    for (ElementType type : ElementType.values()) {
      new BackwardCase(random.nextLong(), type, 2, 66_000, reached).check();
    }
    assertThat(reached).contains("BLOCK false SUPER_BLOCK", "BLOCK true SUPER_BLOCK");
  }

  /** The sums of no rows are 0; nothing is added, because -0 + 0 is +0. */
  @Test
  void gradientsWithoutRows() {
    for (boolean adds : new boolean[] {false, true}) {
      DeviceRun device = new DeviceRun();
      TestRows dgain = TestRows.of(ElementType.FLOAT32, 1, 40, 0, 0);
      for (int i = 0; i < 40; i++) {
        dgain.set(0, i, -0.0);
      }
      Map<Tensor, DeviceRows> rows = new TreeMap<>();
      for (Tensor tensor : List.of(Forward.X, Backward.DY, Backward.DX)) {
        rows.put(tensor, new DeviceRows(0, ElementType.FLOAT32, 0, 40, 40));
      }
      long at = device.rows("dgain", dgain, false).address();
      BackwardCalls calls =
          new BackwardCalls(
              NormParts.of(RmsNorm.builder(40).build()),
              device.sharedBytes(),
              Keep.NOTHING,
              rows,
              null,
              null,
              0,
              0,
              new BackwardCalls.Gradients(
                  DeviceColumn.of(at, ElementType.FLOAT32, ElementType.FLOAT32, 40, 40),
                  null,
                  adds,
                  0));
      assertThat(calls.tableBytes()).isZero();
      device.launch(calls.launches());
      for (int i = 0; i < 40; i++) {
        assertThat(1 / dgain.get(0, i)).isEqualTo(adds ? -1 / 0.0 : 1 / 0.0);
      }
    }
  }

  private static Set<String> missing(Set<String> reached) {
    Set<String> wanted = BackwardCase.choices();
    for (NormSpec.Kind kind : NormSpec.Kind.values()) {
      for (EpsilonPlacement placement : EpsilonPlacement.values()) {
        wanted.add(kind + " " + placement);
      }
    }
    for (Form form : Form.values()) {
      for (String label : new String[] {"STORE_WIDE", "STORE", "OUT_OF_RANGE"}) {
        wanted.add(form + " true " + label);
        wanted.add(form + " false " + label);
      }
      // Teams of several rows in a warp do not add rows up.
      for (String label : form == Form.NARROW ? new String[0] : new String[] {"CLEAR", "WRITE"}) {
        wanted.add(form + " true " + label);
        wanted.add(form + " false " + label);
      }
      for (String copy : new String[] {"WIDE", "LAST", "UNALIGNED", "MANY", "ONE"}) {
        wanted.add(form + " true COPY_" + copy);
        wanted.add(form + " false COPY_" + copy);
      }
    }
    wanted.removeAll(reached);
    return wanted;
  }
}
