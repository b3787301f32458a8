package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.BackwardEdge.alternating;
import static io.github.rmsnorm4j.BackwardEdge.constant;
import static io.github.rmsnorm4j.BackwardEdge.rows;
import static io.github.rmsnorm4j.BackwardEdge.with;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The table of NaN and infinities in docs/numerics.md, cell by cell: what dx, dgain and dbias have
 * where one number is not finite, and elsewhere.
 */
class GradientEdgeTableTest {
  private static final int PART = 20;
  private static final int IN_PART = 5;
  private static final int OUTSIDE = 30;

  /**
   * Words for what elements are: nan, inf of either sign, 0 and finite; and "any" for infinite or
   * NaN. A norm is "rms", "layer" or "partial"; epsilon's place is "floor" where it is the root,
   * and "-" where it is not, or stands elsewhere; kept is "out" for the output, "in" for the input
   * or nothing, and "-" for all of these.
   */
  @ParameterizedTest(name = "{0} in {1}, {2}, {3}, kept {4}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # value| of       | norm    | eps   | kept | dx there | in part | outside | dgain there | else   | dbias there
          nan    | x        | rms     | -     | -    | nan      | nan     |         | nan         | nan    | finite
          nan    | x        | rms     | floor | -    | nan      | nan     |         | nan         | nan    | finite
          nan    | x        | layer   | -     | -    | nan      | nan     |         | nan         | nan    | finite
          nan    | x        | layer   | floor | -    | nan      | nan     |         | nan         | nan    | finite
          nan    | x        | partial | -     | in   | nan      | nan     | nan     | nan         | nan    | finite
          nan    | x        | partial | floor | in   | nan      | nan     | nan     | nan         | nan    | finite
          nan    | x beyond | partial | -     | in   | nan      | nan     | finite  | nan         | finite | finite
          nan    | x beyond | partial | floor | in   | nan      | finite  | finite  | nan         | finite | finite
          inf    | x        | rms     | -     | -    | nan      | nan     |         | nan         | 0      | finite
          inf    | x        | rms     | floor | -    | nan      | nan     |         | nan         | 0      | finite
          inf    | x        | layer   | -     | -    | nan      | nan     |         | nan         | nan    | finite
          inf    | x        | layer   | floor | -    | nan      | nan     |         | nan         | nan    | finite
          inf    | x        | partial | -     | in   | nan      | nan     | 0       | nan         | 0      | finite
          inf    | x        | partial | floor | in   | nan      | nan     | 0       | nan         | 0      | finite
          inf    | x beyond | partial | -     | in   | nan      | inf     | finite  | inf         | finite | finite
          inf    | x beyond | partial | floor | in   | nan      | finite  | finite  | inf         | finite | finite
          nan    | dy       | rms     | -     | -    | nan      | nan     |         | nan         | finite | nan
          nan    | dy       | rms     | floor | -    | nan      | finite  |         | nan         | finite | nan
          nan    | dy       | layer   | -     | -    | nan      | nan     |         | nan         | finite | nan
          nan    | dy       | layer   | floor | -    | nan      | nan     |         | nan         | finite | nan
          nan    | dy       | partial | -     | in   | nan      | nan     | finite  | nan         | finite | nan
          nan    | dy       | partial | floor | in   | nan      | finite  | finite  | nan         | finite | nan
          nan    | dy beyond| partial | -     | in   | nan      | nan     | finite  | nan         | finite | nan
          nan    | dy beyond| partial | floor | in   | nan      | finite  | finite  | nan         | finite | nan
          inf    | dy       | rms     | -     | -    | nan      | inf     |         | inf         | finite | inf
          inf    | dy       | rms     | floor | -    | inf      | finite  |         | inf         | finite | inf
          inf    | dy       | layer   | -     | -    | nan      | any     |         | inf         | finite | inf
          inf    | dy       | layer   | floor | -    | nan      | inf     |         | inf         | finite | inf
          inf    | dy       | partial | -     | in   | nan      | inf     | finite  | inf         | finite | inf
          inf    | dy       | partial | floor | in   | inf      | finite  | finite  | inf         | finite | inf
          inf    | dy beyond| partial | -     | in   | inf      | inf     | finite  | inf         | finite | inf
          inf    | dy beyond| partial | floor | in   | inf      | finite  | finite  | inf         | finite | inf
          nan    | gain     | rms     | -     | in   | nan      | nan     |         | finite      | finite | finite
          nan    | gain     | rms     | -     | out  | nan      | nan     |         | nan         | finite | finite
          nan    | gain     | rms     | floor | in   | nan      | finite  |         | finite      | finite | finite
          nan    | gain     | rms     | floor | out  | nan      | finite  |         | nan         | finite | finite
          nan    | gain     | layer   | -     | in   | nan      | nan     |         | finite      | finite | finite
          nan    | gain     | layer   | -     | out  | nan      | nan     |         | nan         | finite | finite
          nan    | gain     | layer   | floor | in   | nan      | nan     |         | finite      | finite | finite
          nan    | gain     | layer   | floor | out  | nan      | nan     |         | nan         | finite | finite
          inf    | gain     | rms     | -     | in   | nan      | inf     |         | finite      | finite | finite
          inf    | gain     | rms     | -     | out  | nan      | inf     |         | nan         | finite | finite
          inf    | gain     | rms     | floor | in   | inf      | finite  |         | finite      | finite | finite
          inf    | gain     | rms     | floor | out  | nan      | finite  |         | nan         | finite | finite
          inf    | gain     | layer   | -     | in   | nan      | any     |         | finite      | finite | finite
          inf    | gain     | layer   | -     | out  | nan      | any     |         | nan         | finite | finite
          inf    | gain     | layer   | floor | in   | nan      | inf     |         | finite      | finite | finite
          inf    | gain     | layer   | floor | out  | nan      | inf     |         | nan         | finite | finite
          nan    | dresidual| partial | -     | in   | nan      | finite  | finite  | finite      | finite | finite
          inf    | dresidual| partial | -     | in   | inf      | finite  | finite  | finite      | finite | finite
          nan    | dresidual| layer   | -     | -    | nan      | finite  |         | finite      | finite | finite
          inf    | dresidual| layer   | floor | -    | inf      | finite  |         | finite      | finite | finite
          """)
  void aNumberThatIsNotFinite(
      String value,
      String of,
      String norm,
      String place,
      String kept,
      String there,
      String inPart,
      String outside,
      String dgainThere,
      String dgainElse,
      String dbiasThere) {
    int at = of.endsWith("beyond") ? OUTSIDE : IN_PART;
    double v = value.equals("nan") ? Double.NaN : Double.POSITIVE_INFINITY;
    for (BackwardEdge edge : edges(of, at, v, norm, place, kept)) {
      BackwardContract.Result is = edge.run();
      for (int i = 0; i < 36; i++) {
        String rest = i < PART || outside == null ? inPart : outside;
        check("dx", i, is.dx()[0][i], i == at ? there : rest);
        if (!of.equals("gain")) {
          check("dx of the other row", i, is.dx()[1][i], edge.dresidual == null ? "0" : "finite");
        }
        check("dgain", i, is.dgain()[i], i == at ? dgainThere : dgainElse);
        check("dbias", i, is.dbias()[i], i == at ? dbiasThere : "finite");
      }
    }
  }

  private static void check(String what, int i, double value, String expected) {
    boolean is =
        switch (expected) {
          case "nan" -> Double.isNaN(value);
          case "inf" -> Double.isInfinite(value);
          case "any" -> !Double.isFinite(value);
          case "0" -> value == 0;
          default -> Double.isFinite(value) && value != 0;
        };
    assertThat(is).as("%s[%d] is %s, not %s", what, i, value, expected).isTrue();
  }

  /** That number in every type, of every place of epsilon, and whatever is kept. */
  private static List<BackwardEdge> edges(
      String of, int at, double value, String norm, String place, String kept) {
    List<BackwardEdge> edges = new ArrayList<>();
    for (ElementType type : ElementType.values()) {
      for (Keep keep : Keep.values()) {
        for (EpsilonPlacement epsilon : EpsilonPlacement.values()) {
          boolean output = keep == Keep.OUTPUT;
          boolean floor = place.equals("floor");
          if ((kept.equals("-") || kept.equals("out") == output)
              && (!floor || epsilon == EpsilonPlacement.FLOOR)) {
            edges.add(
                edge(of, at, value, norm).keep(keep).type(type).epsilon(floor ? 2 : 0.25, epsilon));
          }
        }
      }
    }
    assertThat(edges).isNotEmpty();
    return edges;
  }

  /** Of numbers whose sums and differences are not 0; and another row, which adds 0 to sums. */
  private static BackwardEdge edge(String of, int at, double value, String norm) {
    double[] x = alternating(1);
    double[] dy = with(constant(1), 0, 3);
    String where = of.split(" ")[0];
    BackwardEdge edge =
        new BackwardEdge(
            norm.equals("layer"),
            rows(where.equals("x") ? with(x, at, value) : x, x),
            rows(where.equals("dy") ? with(dy, at, value) : dy, constant(0)));
    if (norm.equals("partial")) {
      edge.part(PART);
    }
    if (where.equals("gain")) {
      edge.gain(with(constant(1), at, value));
    }
    if (where.equals("dresidual")) {
      edge.dresidual(with(constant(7), at, value), constant(7));
    }
    return edge;
  }

  /**
   * The statistic of a partial norm is of these zeros alone. Outside the part an element of x is 0,
   * and another of dy.
   */
  @ParameterizedTest
  @CsvSource({
    "0, INSIDE",
    "0, OUTSIDE",
    "0, FLOOR",
    "0.25, INSIDE",
    "0.25, OUTSIDE",
    "0.25, FLOOR"
  })
  void zerosInAPart(double epsilon, EpsilonPlacement placement) {
    double[] x = new double[36];
    for (int i = PART; i < 36; i++) {
      x[i] = i == OUTSIDE ? 0 : 1 + i;
    }
    double[] dy = with(constant(1), OUTSIDE + 1, 0);
    double rstd = placement == EpsilonPlacement.INSIDE ? 2 : 4;
    for (ElementType type : ElementType.values()) {
      for (Keep keep : new Keep[] {Keep.INPUT, Keep.NOTHING}) {
        BackwardContract.Result is =
            new BackwardEdge(false, rows(x), rows(dy))
                .part(PART)
                .keep(keep)
                .type(type)
                .epsilon(epsilon, placement)
                .run();
        for (int i = 0; i < 36; i++) {
          if (epsilon == 0) {
            check("dx", i, is.dx()[0][i], "nan");
            boolean zero = x[i] == 0 || dy[i] == 0;
            check("dgain", i, is.dgain()[i], zero ? "nan" : "inf");
          } else {
            assertThat(is.dx()[0][i]).isEqualTo(dy[i] * rstd);
            assertThat(is.dgain()[i]).isEqualTo(dy[i] * x[i] * rstd);
          }
        }
      }
    }
  }
}
