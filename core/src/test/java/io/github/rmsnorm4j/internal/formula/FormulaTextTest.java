package io.github.rmsnorm4j.internal.formula;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.NormSpec;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The stages of RMSNorm and LayerNorm read as one would write them. */
class FormulaTextTest {
  private static final Storage STORAGE =
      new Storage(
          false,
          Set.of(),
          Stream.of(Forward.X, Forward.Y, Backward.DY, Backward.DX)
              .collect(Collectors.toMap(Function.identity(), rows -> ElementType.FLOAT32)));

  @Test
  void rmsNormReadsAsWritten() {
    Forward norm = forward(false);
    assertThat(norm.statistic().text()).isEqualTo("S2 = rowsum(((double) x[i] * (double) x[i]))\n");
    assertThat(norm.roots().text())
        .isEqualTo(
            """
            root = sqrt(((S2 / k) + eps))
            rstd = (1.0 / sqrt(((S2 / k) + eps)))
            (double) (float) (1.0 / sqrt(((S2 / k) + eps))) is from 1.1754943508222875E-38 to 3.4028234663852886E38
            """);
    assertThat(norm.output().text())
        .isEqualTo("y[i] = (((x[i] * (float) rstd) * gain[i]) + bias[i])\n");
    assertThat(backward(false).sums().text())
        .isEqualTo("P = rowsum((double) ((dy[i] * gain[i]) * (x[i] * (float) rstd)))\n");
    assertThat(backward(false).means().text()).isEqualTo("m = (P / k)\n");
    assertThat(backward(false).output().text())
        .isEqualTo(
            """
            dx[i] = (((dy[i] * gain[i]) - ((x[i] * (float) rstd) * (float) m)) * (float) rstd)
            dgain[i] += (dy[i] * (x[i] * (float) rstd))
            dbias[i] += dy[i]
            """);
  }

  @Test
  void layerNormReadsAsWritten() {
    Forward norm = forward(true);
    assertThat(norm.statistic().text())
        .isEqualTo(
            """
            x0 = (double) x[0]
            S1 = rowsum(((double) x[i] - x0))
            S2 = rowsum((((double) x[i] - x0) * ((double) x[i] - x0)))
            """);
    String root = "sqrt((max(((S2 - ((S1 * S1) / k)) / k), 0.0) + eps))";
    String mean = "(x0 + (S1 / k))";
    assertThat(norm.roots().text().lines())
        .startsWith("mean = " + mean, "root = " + root, "rstd = (1.0 / " + root + ")")
        .last()
        .isEqualTo(
            "(double) (float) "
                + mean
                + " is from -1.0141204801825834E31 to 1.0141204801825834E31");
    String centred = "((x[i] - (float) mean) - (float) (mean - (double) (float) mean))";
    assertThat(norm.output().text())
        .isEqualTo("y[i] = (((" + centred + " * (float) rstd) * gain[i]) + bias[i])\n");
    String xh = "(" + centred + " * (float) rstd)";
    assertThat(backward(true).sums().text())
        .isEqualTo(
            "P = rowsum((double) ((dy[i] * gain[i]) * %s))%nH = rowsum((double) (dy[i] * gain[i]))%n"
                .formatted(xh));
    assertThat(backward(true).means().text()).isEqualTo("m = (P / k)\nc = (H / k)\n");
    String dx = "((((dy[i] * gain[i]) - (float) c) - (" + xh + " * (float) m)) * (float) rstd)";
    assertThat(backward(true).output().text().lines())
        .containsExactly("dx[i] = " + dx, "dgain[i] += (dy[i] * " + xh + ")", "dbias[i] += dy[i]");
  }

  @Test
  void placesOfEpsilon() {
    assertThat(backward(EpsilonPlacement.OUTSIDE).means().text())
        .startsWith("m = ((1.0 - ((double) (float) rstd * eps)) > ");
    assertThat(forward(EpsilonPlacement.OUTSIDE).roots().text())
        .startsWith("root = (sqrt((S2 / k)) + eps)\n");
    assertThat(forward(EpsilonPlacement.FLOOR).roots().text())
        .startsWith("root = max(sqrt((S2 / k)), eps)\n");
  }

  private static NormSpec spec(boolean centred, EpsilonPlacement placement) {
    NormSpec usual = centred ? NormSpec.LAYERNORM : NormSpec.RMSNORM;
    return usual.withEpsilonPlacement(placement);
  }

  static Forward forward(boolean centred) {
    return forward(centred, EpsilonPlacement.INSIDE);
  }

  private static Forward forward(EpsilonPlacement placement) {
    return forward(false, placement);
  }

  private static Forward forward(boolean centred, EpsilonPlacement placement) {
    ForwardFormula formula = new ForwardFormula(spec(centred, placement), null, true, true);
    return new Forward(STORAGE, formula, false);
  }

  private static Backward backward(boolean centred) {
    return backward(centred, EpsilonPlacement.INSIDE);
  }

  private static Backward backward(EpsilonPlacement placement) {
    return backward(false, placement);
  }

  private static Backward backward(boolean centred, EpsilonPlacement placement) {
    NormSpec spec = spec(centred, placement);
    BackwardFormula formula = new BackwardFormula(spec, false, false, true, true, true, true);
    return new Backward(STORAGE, formula, false);
  }
}
