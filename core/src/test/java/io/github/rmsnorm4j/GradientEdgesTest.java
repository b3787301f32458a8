package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.BackwardEdge.alternating;
import static io.github.rmsnorm4j.BackwardEdge.constant;
import static io.github.rmsnorm4j.BackwardEdge.rows;
import static io.github.rmsnorm4j.BackwardEdge.with;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a backward pass makes of rows at the ends: zeros, NaN, infinity, subnormals, gains of 0, no
 * rows, shared memory. Each result is stated, and is the contract's on every backend.
 */
class GradientEdgesTest {
  private static final double NAN = Double.NaN;
  private static final double INFINITY = Double.POSITIVE_INFINITY;

  @ParameterizedTest
  @EnumSource
  void aRowOfZerosWithEpsilonZeroIsNaN(EpsilonPlacement placement) {
    for (boolean centred : new boolean[] {false, true}) {
      for (Keep keep : Keep.values()) {
        for (ElementType type : ElementType.values()) {
          BackwardContract.Result is =
              new BackwardEdge(
                      centred, rows(constant(0), alternating(1)), rows(constant(1), constant(2)))
                  .epsilon(0, placement)
                  .keep(keep)
                  .type(type)
                  .run();
          assertThat(is.dx()[0]).containsOnly(NAN);
          assertThat(is.dx()[1]).as("the other row").doesNotContain(NAN);
          assertThat(is.dgain()).containsOnly(NAN);
          assertThat(is.dbias()).containsOnly(3);
        }
      }
    }
  }

  /** Epsilons whose rstd is 4: the second term is 0, as xh is. */
  @ParameterizedTest
  @EnumSource
  void aRowOfZerosWithAnEpsilonPassesTheGradientOn(EpsilonPlacement placement) {
    double epsilon = placement == EpsilonPlacement.INSIDE ? 0x1p-4 : 0x1p-2;
    double[] dy = with(constant(0), 3, 36);
    for (Keep keep : Keep.values()) {
      BackwardContract.Result is =
          new BackwardEdge(false, rows(constant(0)), rows(dy))
              .epsilon(epsilon, placement)
              .keep(keep)
              .run();
      assertThat(is.dx()[0]).isEqualTo(with(constant(0), 3, 144));
      assertThat(is.dgain()).containsOnly(0);
      BackwardContract.Result centred =
          new BackwardEdge(true, rows(constant(0)), rows(dy))
              .epsilon(epsilon, placement)
              .keep(keep)
              .run();
      assertThat(centred.dx()[0]).isEqualTo(with(constant(-4), 3, 140));
      assertThat(centred.dgain()).containsOnly(0);
    }
  }

  private static void onlyAt(double[] values, int at) {
    for (int i = 0; i < values.length; i++) {
      assertThat(Double.isNaN(values[i])).as("element %d is %s", i, values[i]).isEqualTo(i == at);
    }
  }

  /** Beside the root an epsilon is all there is of the divisor, inside it is not. */
  @ParameterizedTest
  @EnumSource
  void aNaNInTheDyOfARowOfZeros(EpsilonPlacement placement) {
    double epsilon = placement == EpsilonPlacement.INSIDE ? 0.25 : 0.5;
    double[] dy = with(constant(1), 5, NAN);
    for (Keep keep : Keep.values()) {
      BackwardEdge edge = new BackwardEdge(false, rows(constant(0)), rows(dy)).keep(keep);
      BackwardContract.Result is = edge.epsilon(epsilon, placement).run();
      boolean everywhere = placement == EpsilonPlacement.INSIDE;
      assertThat(is.dx()[0]).isEqualTo(everywhere ? constant(NAN) : with(constant(2), 5, NAN));
      onlyAt(is.dgain(), 5);
    }
  }

  /** Rows whose rstd float32 cannot hold, and gradients that it can. */
  @ParameterizedTest
  @ValueSource(doubles = {0x1p-149, 0x1p-140, 0x1p-127, 0x1p-126, 1, 0x1p126, 0x1p127})
  void finiteRowsOfAnySize(double size) {
    for (Keep keep : Keep.values()) {
      for (boolean centred : new boolean[] {false, true}) {
        double slope = size < 1 ? 36 * size : 36;
        double[] dy = with(constant(0), 0, slope);
        BackwardContract.Result is =
            new BackwardEdge(centred, rows(alternating(size)), rows(dy))
                .epsilon(0, EpsilonPlacement.INSIDE)
                .keep(keep)
                .run();
        double share = slope / 36;
        for (int i = 0; i < 36; i++) {
          // 36 less the mean of h * xh, and less that of h if centred.
          double h = i == 0 ? slope : 0;
          double taken = (i % 2 == 0 ? share : -share) + (centred ? share : 0);
          assertThat(is.dx()[0][i]).isEqualTo((float) ((h - taken) / size));
        }
        assertThat(is.dgain()).isEqualTo(with(constant(0), 0, slope));
      }
    }
  }

  @Test
  void aGradientBeyondFloat32IsInfinite() {
    double[] dy = with(constant(0), 0, 36);
    BackwardContract.Result is =
        new BackwardEdge(false, rows(alternating(0x1p-149)), rows(dy))
            .epsilon(0, EpsilonPlacement.INSIDE)
            .run();
    for (int i = 0; i < 36; i++) {
      assertThat(is.dx()[0][i]).isEqualTo(i % 2 == 0 && i > 0 ? -INFINITY : INFINITY);
    }
    assertThat(is.dgain()).isEqualTo(with(constant(0), 0, 36));
  }

  /** Nothing is flushed to zero. */
  @Test
  void subnormalGradients() {
    double[] dy = with(constant(0), 0, 36 * 0x1p-149);
    BackwardContract.Result is =
        new BackwardEdge(false, rows(alternating(1)), rows(dy))
            .epsilon(0, EpsilonPlacement.INSIDE)
            .run();
    for (int i = 1; i < 36; i++) {
      assertThat(is.dx()[0][i]).isEqualTo(i % 2 == 0 ? -0x1p-149 : 0x1p-149);
    }
    assertThat(is.dx()[0][0]).isEqualTo(35 * 0x1p-149);
    assertThat(is.dgain()[0]).isEqualTo(36 * 0x1p-149);
  }

  /** dy * g is beyond float32, though dx is not: 2^-40 times 0.75 of it, and -0.25 in turn. */
  @Test
  void aProductBeyondFloat32OnTheWay() {
    double[] dy = {3e38, 0, 0, 0};
    double[] x = {0x1p40, -0x1p40, 0x1p40, -0x1p40};
    BackwardContract.Result is =
        new BackwardEdge(false, rows(x), rows(dy))
            .epsilon(0, EpsilonPlacement.INSIDE)
            .gain(8, 1, 1, 1)
            .run();
    assertThat(is.dx()[0]).containsExactly(NAN, INFINITY, -INFINITY, INFINITY);
    assertThat(is.dgain()).containsExactly((float) 3e38, 0, 0, 0);
    assertThat(is.dbias()).containsExactly((float) 3e38, 0, 0, 0);
  }

  /** h * xh is: of a row of one number that is not 0 the gradient is 0. */
  @Test
  void aTermOfARowSumBeyondFloat32() {
    BackwardContract.Result is =
        new BackwardEdge(false, rows(new double[] {1, 0, 0, 0}), rows(new double[] {3e38, 0, 0, 0}))
            .epsilon(0, EpsilonPlacement.INSIDE)
            .run();
    assertThat(is.dx()[0]).containsExactly(-INFINITY, NAN, NAN, NAN);
    assertThat(is.dgain()).containsExactly(INFINITY, 0, 0, 0);
  }

  /** The mean of h * xh is 2^-151, which is 0 in float32, and would be 2^-51 of dx. */
  @Test
  void aProductBelowFloat32OnTheWay() {
    double[] x = {0x1p-100, -0x1p-100, 0x1p-100, -0x1p-100};
    BackwardContract.Result is =
        new BackwardEdge(false, rows(x), rows(new double[] {0x1p-149, 0, 0, 0}))
            .epsilon(0, EpsilonPlacement.INSIDE)
            .run();
    assertThat(is.dx()[0]).containsExactly(0x1p-49, 0, 0, 0);
    assertThat(is.dgain()[0]).isEqualTo(0x1p-149);
  }

  /** An output has no more of the normalised row than its type can hold. */
  @Test
  void aKeptOutputThatIsOutOfItsTypesRange() {
    double[] x = alternating(1);
    double[] dy = with(constant(0), 0, 36);
    BackwardEdge edge = new BackwardEdge(false, rows(x), rows(dy)).type(ElementType.FLOAT16);
    edge.epsilon(0, EpsilonPlacement.INSIDE);
    assertThat(edge.gain(with(constant(1), 0, 0x1p-26)).run().dgain()[0]).isEqualTo(36);
    assertThat(edge.keep(Keep.OUTPUT).run().dgain()[0]).as("y is 0").isZero();
    edge.keep(Keep.INPUT).gain(with(constant(1), 0, 1e5));
    assertThat(edge.run().dgain()[0]).isEqualTo(36);
    BackwardContract.Result beyond = edge.keep(Keep.OUTPUT).run();
    assertThat(beyond.dgain()).as("y is infinite").isEqualTo(with(constant(0), 0, INFINITY));
    for (int i = 0; i < 36; i++) {
      assertThat(beyond.dx()[0][i]).isEqualTo(i % 2 == 0 ? -INFINITY : INFINITY);
    }
  }

  /**
   * A float64 row is scaled for its statistic, and its gradient is of that as far as it is held.
   */
  @Test
  void float64RowsOfAnySize() {
    for (double size : new double[] {0x1p-1022, 0x1p-700, 0x1p700, 0x1p1022}) {
      for (Keep keep : new Keep[] {Keep.INPUT, Keep.NOTHING}) {
        double slope = size < 1 ? 36 * size : 36;
        BackwardContract.Result is =
            new BackwardEdge(false, rows(alternating(size)), rows(with(constant(0), 0, slope)))
                .epsilon(0, EpsilonPlacement.INSIDE)
                .type(FLOAT64)
                .keep(keep)
                .run();
        assertThat(is.dx()[0][0]).as("%s, %s", size, keep).isEqualTo(35 * slope / 36 / size);
        assertThat(is.dx()[0][1]).isEqualTo(slope / 36 / size);
        assertThat(is.dgain()[0]).isEqualTo(slope);
      }
    }
    for (Keep keep : new Keep[] {Keep.INPUT, Keep.NOTHING}) {
      BackwardContract.Result beyond =
          new BackwardEdge(false, rows(alternating(0x1p-1030)), rows(constant(1)))
              .epsilon(0, EpsilonPlacement.INSIDE)
              .type(FLOAT64)
              .keep(keep)
              .run();
      assertThat(beyond.dx()[0]).containsOnly(NAN);
      assertThat(beyond.dgain()[0]).isEqualTo(INFINITY);
    }
  }

  /** Its element of h is 0, and its own gradient is as if it were not. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aGainOfZero(boolean centred) {
    double[] x = alternating(1);
    double[] gain = with(constant(1), 5, 0);
    for (Keep keep : new Keep[] {Keep.INPUT, Keep.NOTHING}) {
      BackwardEdge pass =
          new BackwardEdge(centred, rows(x), rows(x)).epsilon(0, EpsilonPlacement.INSIDE);
      BackwardContract.Result is = pass.keep(keep).gain(gain).run();
      double m = (float) (35 / 36.0);
      double c = centred ? (float) (1 / 36.0) : 0; // 18 of 1 and 17 of -1.
      for (int i = 0; i < 36; i++) {
        float h = (float) (gain[i] * x[i] - c);
        assertThat(is.dx()[0][i]).isEqualTo(h - (float) (x[i] * m));
      }
      assertThat(is.dgain()).as("dy * xh").containsOnly(1);
    }
    BackwardEdge output = new BackwardEdge(centred, rows(x), rows(x)).keep(Keep.OUTPUT).gain(gain);
    assertThatThrownBy(output::run)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("element 5 of the gain is 0, to go back from the output none may be");
  }

  @Test
  void gainsOfZeroAlone() {
    BackwardEdge pass = new BackwardEdge(false, rows(alternating(1)), rows(constant(1)));
    BackwardContract.Result is = pass.epsilon(0, EpsilonPlacement.INSIDE).gain(constant(0)).run();
    assertThat(Arrays.stream(is.dx()[0]).map(Math::abs)).containsOnly(0.0);
    assertThat(is.dgain()).isEqualTo(alternating(1));
  }

  @Test
  void rowsOfOneElement() {
    BackwardEdge centred = new BackwardEdge(true, rows(new double[] {5}), rows(new double[] {3}));
    assertThat(centred.run().dx()[0]).containsExactly(0);
    BackwardEdge exact = new BackwardEdge(false, rows(new double[] {5}), rows(new double[] {3}));
    exact.epsilon(0, EpsilonPlacement.INSIDE);
    assertThat(exact.run().dx()[0]).containsExactly(0);
  }

  @Test
  void onTheFloorANaNInDyStaysWhereItIs() {
    double[] dy = with(constant(1), 5, NAN);
    BackwardEdge pass = new BackwardEdge(false, rows(alternating(1)), rows(dy));
    BackwardContract.Result is = pass.epsilon(2, EpsilonPlacement.FLOOR).run();
    assertThat(is.dx()[0]).isEqualTo(with(constant(0.5), 5, NAN));
  }

  /**
   * The sum of h * xh is infinite: taken off itself it is NaN, and what others lose is infinite.
   */
  @Test
  void anInfinityInDy() {
    double[] x = alternating(1);
    double[] dy = with(constant(1), 4, INFINITY);
    BackwardContract.Result is = new BackwardEdge(false, rows(x), rows(dy)).run();
    BackwardContract.Result centred = new BackwardEdge(true, rows(x), rows(dy)).run();
    for (int i = 0; i < x.length; i++) {
      assertThat(is.dx()[0][i]).isEqualTo(Double.valueOf(i == 4 ? NAN : -x[i] * INFINITY));
      assertThat(centred.dx()[0][i])
          .isEqualTo(Double.valueOf(i == 4 || x[i] < 0 ? NAN : -INFINITY));
    }
    for (BackwardContract.Result result : new BackwardContract.Result[] {is, centred}) {
      assertThat(result.dgain()[4]).isEqualTo(INFINITY);
      assertThat(result.dbias()).isEqualTo(with(constant(1), 4, INFINITY));
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY})
  void whatTheResidualsGradientHasStaysInItsElement(double value) {
    BackwardEdge pass = new BackwardEdge(false, rows(alternating(1)), rows(constant(0)));
    BackwardContract.Result is = pass.dresidual(with(constant(7), 5, value)).run();
    assertThat(is.dx()[0]).isEqualTo(with(constant(7), 5, value));
    assertThat(is.dgain()).containsOnly(0);
  }

  /** Whatever is only read may be one memory, and what is not kept may be written over. */
  @Test
  void whereDxMayGo() {
    RmsNorm norm = RmsNorm.builder(2).build();
    float[] x = {1, 2, 3, 4};
    float[] y = new float[4];
    float[] dy = {1, -2, 0.5f, 3};
    Saved input = new Saved(Keep.INPUT, 2);
    norm.apply(Rows.of(x, 2), Rows.of(y, 2), input);
    float[] alone = new float[4];
    norm.backward(Rows.of(dy, 2), input, Rows.of(dy, 2), Rows.of(alone, 2), null);

    float[] all = dy.clone();
    Rows same = Rows.of(all, 2);
    norm.backward(same, input, same, same, null);
    assertThat(all).as("over dy, which is dresidual").isEqualTo(alone);

    Saved output = new Saved(Keep.OUTPUT, 2);
    norm.apply(Rows.of(x, 2), Rows.of(y, 2), output);
    float[] apart = new float[4];
    norm.backward(Rows.of(dy, 2), output, Rows.of(apart, 2), null);
    float[] x0 = x.clone();
    norm.backward(Rows.of(dy, 2), output, Rows.of(x, 2), null);
    assertThat(x).as("over x, of which nothing is kept").isEqualTo(apart);

    float[] residual = new float[4];
    norm.addAndApply(Rows.of(x0, 2), Rows.of(residual, 2), Rows.of(y, 2), input);
    norm.backward(Rows.of(dy, 2), input, Rows.of(dy, 2), Rows.of(x0, 2), null);
    assertThat(x0).as("over x, whose sum is kept").isEqualTo(alone);
  }
}
