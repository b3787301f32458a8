package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows of more than a super-block, and those past 2^20 for which LayerNorm takes two passes. */
class LongRowTest {
  @ParameterizedTest
  @CsvSource({
    "0, 1048576, FLOAT32, 1, 0",
    "1, 1048577, FLOAT32, 1, 0",
    "2, 1048577, FLOAT32, 1, 30000",
    "3, 1200000, FLOAT32, 1e-42, 0",
    "4, 1200000, FLOAT32, 3e38, 0",
    "5, 1048577, FLOAT64, 1, 30000",
    "6, 1048577, FLOAT64, 1e160, 0",
    "7, 1048577, FLOAT64, 1e305, 0",
    "8, 1048577, FLOAT64, 1e307, 1e308",
    "9, 1048577, FLOAT64, 1e-200, 0",
    "10, 1048577, FLOAT64, 1e-320, 0",
    "11, 1048577, BFLOAT16, 1, 10"
  })
  void equalsTheContract(int call, int width, ElementType type, double size, double mean) {
    double[] x = new RandomRows(new SplittableRandom(1)).scaled(type, width, size, mean);
    for (boolean centred : new boolean[] {false, true}) {
      Contract.Result expected = Contract.row(x, type, type, centred, 0.0, null, null);
      List<Backend> backends = new ArrayList<>(List.of(Backend.scalar(), Backends.VECTORS));
      backends.addAll(1, Backends.vectors(128));
      backends.addAll(Backends.machineCode());
      boolean each = centred && mean != 0; // What the second pass is for.
      int turn = centred ? call + 1 : call;
      for (Backend backend : each ? backends : Backends.inTurn(backends, turn)) {
        check(x, type, centred, backend, expected);
      }
    }
  }

  private static void check(
      double[] x, ElementType type, boolean centred, Backend backend, Contract.Result expected) {
    try (Arena arena = Arena.ofConfined()) {
      Block in = new Block(arena, Place.NATIVE, type, 1, x.length, x.length);
      Block out = new Block(arena, Place.ARRAY, type, 1, x.length, x.length);
      in.put(0, x);
      if (centred) {
        LayerNorm.builder(x.length).epsilon(0).backend(backend).build().apply(in.rows, out.rows);
      } else {
        RmsNorm.builder(x.length).epsilon(0).backend(backend).build().apply(in.rows, out.rows);
      }
      assertThat(out.mismatch(0, expected.y())).as("%s, element", backend).isEqualTo(-1);
      double squares = 0;
      for (double y : out.values(0)) {
        squares += y * y / x.length;
      }
      // Whatever the row's scale, its result has a mean square of one.
      assertThat(squares).isBetween(0.99, 1.01);
    }
  }
}
