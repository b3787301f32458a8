package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Gradients against central differences of the forward pass, in float64. */
class GradientTest {
  private static final int CASES = 1000;
  private static final double ALLOWED = 1e-7;
  private static final EpsilonPlacement[] PLACEMENTS = EpsilonPlacement.values();

  /** One norm and its rows, drawn from a seed. */
  private static final class Drawn {
    final int rows;
    final int width;
    final Keep keep;
    final double[] x;
    final double[] dy;
    final double[] dresidual;
    final double[] gain;
    final double[] bias;
    final double offset;
    final double epsilon;
    final EpsilonPlacement placement;
    final boolean centred;
    final int part;

    Drawn(long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      rows = random.nextInt(1, 5);
      width = random.nextInt(1, 70);
      keep = Keep.values()[random.nextInt(3)];
      centred = random.nextBoolean();
      placement = PLACEMENTS[random.nextInt(3)];
      double[] epsilons = {1e-6, 1e-2, 0.7};
      epsilon = epsilons[random.nextInt(3)];
      boolean partial = !centred && keep != Keep.OUTPUT && random.nextBoolean();
      part = partial ? random.nextInt(1, width + 1) : width;
      offset = random.nextBoolean() ? 0 : 1;
      x =
          awayFromZero(
              drawn(random, rows * width, 2), 0); // Where the root bends, a step is too far.
      dy = drawn(random, rows * width, 1);
      dresidual = random.nextInt(3) == 0 ? drawn(random, rows * width, 1) : null;
      gain = random.nextBoolean() ? awayFromZero(drawn(random, width, 2), offset) : null;
      bias = random.nextBoolean() ? drawn(random, width, 1) : null;
    }

    private static double[] drawn(SplittableRandom random, int n, double size) {
      return random.doubles(n, -size, size).toArray();
    }

    private static double[] awayFromZero(double[] gain, double offset) {
      return Arrays.stream(gain).map(g -> Math.abs(g + offset) < 0.2 ? g + 0.5 : g).toArray();
    }

    Norm norm() {
      Norm.Builder<?> builder = centred ? LayerNorm.builder(width) : RmsNorm.builder(width);
      builder.epsilon(epsilon).epsilonPlacement(placement).gainOffset(offset);
      return centred
          ? ((LayerNorm.Builder) builder).build()
          : ((RmsNorm.Builder) builder).part(part).build();
    }

    /** What the gradients are of: the sum of y * dy. */
    double loss(double[] x, double[] gain, double[] bias) {
      double[] y = new double[x.length];
      Rows g = gain == null ? null : Rows.of(gain, width);
      Rows b = bias == null ? null : Rows.of(bias, width);
      norm().apply(Rows.of(x, width), g, b, Rows.of(y, width), new Saved(Keep.INPUT, rows));
      double sum = 0;
      for (int i = 0; i < y.length; i++) {
        sum += y[i] * dy[i] + (dresidual == null ? 0 : x[i] * dresidual[i]);
      }
      return sum;
    }

    String describe(long seed) {
      return "seed %d: %s, %d x %d, part %d, %s, offset %s, gain %s, bias %s, keep %s"
          .formatted(
              seed, norm(), rows, width, part, placement, offset, gain != null, bias != null, keep);
    }
  }

  private interface Loss {
    double at(double[] values);
  }

  @Test
  void everyChoiceAgainstCentralDifferences() {
    for (long seed = 0; seed < CASES; seed++) {
      Drawn drawn = new Drawn(seed);
      double[] dx = new double[drawn.x.length];
      double[] dgain = new double[drawn.width];
      double[] dbias = new double[drawn.width];
      backward(drawn, dx, dgain, dbias);
      String what = drawn.describe(seed);
      double[] gain = drawn.gain;
      double[] bias = drawn.bias;
      agree(what + ": dx", dx, drawn.x, x -> drawn.loss(x, gain, bias));
      double[] ones = new double[drawn.width];
      Arrays.fill(ones, 1 - drawn.offset);
      agree(what + ": dgain", dgain, gain == null ? ones : gain, g -> drawn.loss(drawn.x, g, bias));
      double[] zeros = new double[drawn.width];
      agree(
          what + ": dbias", dbias, bias == null ? zeros : bias, b -> drawn.loss(drawn.x, gain, b));
    }
  }

  private static void backward(Drawn drawn, double[] dx, double[] dgain, double[] dbias) {
    int width = drawn.width;
    Norm norm = drawn.norm();
    Saved saved = new Saved(drawn.keep, drawn.rows);
    Rows gain = drawn.gain == null ? null : Rows.of(drawn.gain, width);
    Rows bias = drawn.bias == null ? null : Rows.of(drawn.bias, width);
    double[] y = new double[drawn.x.length];
    norm.apply(Rows.of(drawn.x, width), gain, bias, Rows.of(y, width), saved);
    ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
    Rows dy = Rows.of(drawn.dy, width);
    if (drawn.dresidual == null) {
      norm.backward(dy, saved, Rows.of(dx, width), gradients);
    } else {
      norm.backward(dy, saved, Rows.of(drawn.dresidual, width), Rows.of(dx, width), gradients);
    }
  }

  /** Of fourth order, so that neither the step nor rounding shows. */
  private static void agree(String what, double[] gradient, double[] at, Loss loss) {
    double[] point = at.clone();
    double step = 2e-4;
    double largest = Arrays.stream(gradient).map(Math::abs).max().orElse(0);
    for (int i = 0; i < point.length; i++) {
      double[] values = new double[5];
      for (int k = -2; k <= 2; k++) {
        point[i] = at[i] + k * step;
        values[k + 2] = k == 0 ? 0 : loss.at(point);
      }
      point[i] = at[i];
      double slope = (8 * (values[3] - values[1]) - (values[4] - values[0])) / (12 * step);
      assertThat(Math.abs(gradient[i] - slope))
          .as("%s, element %d: %s, differences give %s", what, i, gradient[i], slope)
          .isLessThanOrEqualTo(ALLOWED * Math.max(largest, 1e-3));
    }
  }
}
