package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.reference.AddedResidual;
import io.github.rmsnorm4j.reference.Casts;
import io.github.rmsnorm4j.reference.Definitions;
import io.github.rmsnorm4j.reference.Gradients;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

/**
 * Gradients, the library's and those of {@code reference}, against central differences of the
 * forward definitions of {@code reference}, in float64. No difference is of the library's own.
 */
class GradientTest {
  private static final int CASES = 1500;
  private static final double ALLOWED = 1e-7;

  /** Of fourth order, so that neither the step nor rounding shows. */
  private static final double STEP = 2e-4;

  /** One norm and its rows, drawn from a seed. */
  private static final class Drawn {
    final int width;
    final Keep keep;
    final double[][] x;
    final double[][] residual;
    final double[][] dy;
    final double[][] dresidual;
    final double[] gain;
    final double[] bias;
    final Variant is;

    Drawn(long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      int rows = random.nextInt(1, 5);
      width = random.nextInt(2, 70); // Of one element alone all may cancel.
      double[] epsilons = {1e-6, 1e-2, 0.7};
      is = Variant.any(random, width, epsilons[random.nextInt(3)]);
      boolean output = is.part() == width && random.nextInt(3) == 0;
      keep = output ? Keep.OUTPUT : random.nextBoolean() ? Keep.INPUT : Keep.NOTHING;
      double[][] sums = drawn(random, rows, 2);
      Arrays.setAll(
          sums, r -> awayFromZero(sums[r], 0)); // Where the root bends, a step is too far.
      residual = random.nextInt(3) == 0 ? drawn(random, rows, 1) : null;
      x = residual == null ? sums : minus(sums, residual);
      dy = drawn(random, rows, 1);
      dresidual = residual != null ? drawn(random, rows, 1) : null;
      gain = random.nextInt(4) > 0 ? awayFromZero(drawn(random, 1, 2)[0], is.gainOffset()) : null;
      boolean mayHaveBias = is.order() == CastOrder.FLOAT32;
      bias = mayHaveBias && random.nextBoolean() ? drawn(random, 1, 1)[0] : null;
    }

    private double[][] drawn(SplittableRandom random, int rows, double size) {
      double[][] values = new double[rows][];
      Arrays.setAll(values, r -> random.doubles(width, -size, size).toArray());
      return values;
    }

    private static double[] awayFromZero(double[] values, double offset) {
      return Arrays.stream(values).map(v -> Math.abs(v + offset) < 0.2 ? v + 0.5 : v).toArray();
    }

    private static double[][] minus(double[][] a, double[][] b) {
      double[][] difference = new double[a.length][a[0].length];
      for (int r = 0; r < a.length; r++) {
        for (int i = 0; i < a[r].length; i++) {
          difference[r][i] = a[r][i] - b[r][i];
        }
      }
      return difference;
    }

    /** The row that is normalised. */
    AddedResidual sum(int row, double[] x) {
      ElementType type = ElementType.FLOAT64;
      return residual == null
          ? new AddedResidual(x, x, x)
          : AddedResidual.of(x, residual[row], type, type, is.rounding());
    }

    double mean(AddedResidual row) {
      return is.centred() ? Definitions.mean(row.measured()) : 0;
    }

    double root(AddedResidual row) {
      double m =
          is.centred()
              ? Definitions.variance(row.measured())
              : Definitions.meanSquare(row.measured(), is.part()) * is.part() / is.count();
      return Definitions.root(m, is.epsilon(), is.placement());
    }

    /** What the gradients are of, for one row: the sum of y * dy and of the sum * dresidual. */
    double loss(int row, double[] x, double[] gain, double[] bias) {
      AddedResidual sum = sum(row, x);
      double[] h = sum.normalised();
      double root = root(sum);
      double[] g = Definitions.offsetGain(gain, is.gainOffset());
      ElementType type = ElementType.FLOAT64;
      double[] y =
          switch (is.order()) {
            case FLOAT32, DIVIDED, GAIN_FIRST -> Definitions.output(h, mean(sum), root, g, bias);
            case ROUNDED_ROOT, NONE -> Casts.roundedRoot(h, 1 / root, type, g);
            case LLAMA -> Casts.llama(h, 1 / root, type, g);
            case T5 -> Casts.t5(h, 1 / root, type, g);
            case ONNX -> Casts.onnx(h, root, type, g);
          };
      double loss = 0;
      for (int i = 0; i < width; i++) {
        loss += y[i] * dy[row][i];
        loss += dresidual == null ? 0 : sum.stored()[i] * dresidual[row][i];
      }
      return loss;
    }

    Result reference() {
      Result result = new Result(new double[x.length][], new double[width], new double[width]);
      double[] g = Definitions.offsetGain(gain, is.gainOffset());
      for (int r = 0; r < x.length; r++) {
        AddedResidual sum = sum(r, x[r]);
        double[] h = sum.normalised();
        double[] dx =
            is.centred()
                ? Gradients.layerNorm(h, dy[r], g, is.epsilon(), is.placement())
                : is.spec().isOfLength()
                    ? Gradients.l2Norm(h, dy[r], g, is.epsilon(), is.placement())
                    : Gradients.rmsNorm(h, dy[r], g, is.part(), is.epsilon(), is.placement());
        double[] dgain = Gradients.gain(h, dy[r], mean(sum), root(sum));
        for (int i = 0; i < width; i++) {
          dx[i] += dresidual == null ? 0 : dresidual[r][i];
          result.dgain[i] += dgain[i];
          result.dbias[i] += dy[r][i];
        }
        result.dx[r] = dx;
      }
      return result;
    }

    Result library() {
      int rows = x.length;
      Norm norm = is.norm(builder -> {});
      Saved saved = new Saved(keep, rows);
      Rows g = gain == null ? null : Rows.of(gain, width);
      Rows b = bias == null ? null : Rows.of(bias, width);
      Rows y = rows(new double[rows][width]);
      double[] out = new double[rows * width];
      Rows dx = Rows.of(out, width);
      Result result = new Result(new double[rows][], new double[width], new double[width]);
      ParameterGradients gradients = ParameterGradients.assigned(result.dgain, result.dbias);
      if (residual == null) {
        norm.apply(rows(x), g, b, y, saved);
        norm.backward(rows(dy), saved, dx, gradients);
      } else {
        norm.addAndApply(rows(x), rows(residual), g, b, y, saved);
        norm.backward(rows(dy), saved, rows(dresidual), dx, gradients);
      }
      Arrays.setAll(result.dx, r -> Arrays.copyOfRange(out, r * width, (r + 1) * width));
      return result;
    }

    private Rows rows(double[][] values) {
      return Rows.of(Arrays.stream(values).flatMapToDouble(Arrays::stream).toArray(), width);
    }
  }

  private record Result(double[][] dx, double[] dgain, double[] dbias) {}

  @Test
  void everyChoiceAgainstCentralDifferences() {
    for (long seed = 0; seed < CASES; seed++) {
      Drawn drawn = new Drawn(seed);
      String what =
          "seed %d: %s, gain %s, bias %s, residual %s, keep %s"
              .formatted(
                  seed,
                  drawn.is,
                  drawn.gain != null,
                  drawn.bias != null,
                  drawn.residual != null,
                  drawn.keep);
      Result differences = differences(drawn);
      agree(what + ", reference", drawn.reference(), differences);
      agree(what, drawn.library(), differences);
    }
  }

  private static Result differences(Drawn drawn) {
    double[][] dx = new double[drawn.x.length][];
    for (int r = 0; r < dx.length; r++) {
      int row = r;
      dx[r] = differences(drawn.x[r], x -> drawn.loss(row, x, drawn.gain, drawn.bias));
    }
    double[] gain =
        drawn.gain == null ? constant(drawn.width, 1 - drawn.is.gainOffset()) : drawn.gain;
    double[] bias = drawn.bias == null ? new double[drawn.width] : drawn.bias;
    double[] dgain = differences(gain, g -> loss(drawn, g, drawn.bias));
    if (drawn.is.order() != CastOrder.FLOAT32) {
      return new Result(dx, dgain, drawn.reference().dbias); // Their formulas have no bias.
    }
    return new Result(dx, dgain, differences(bias, b -> loss(drawn, drawn.gain, b)));
  }

  private static double[] constant(int width, double value) {
    double[] values = new double[width];
    Arrays.fill(values, value);
    return values;
  }

  private static double loss(Drawn drawn, double[] gain, double[] bias) {
    double sum = 0;
    for (int r = 0; r < drawn.x.length; r++) {
      sum += drawn.loss(r, drawn.x[r], gain, bias);
    }
    return sum;
  }

  private static double[] differences(double[] at, ToDoubleFunction<double[]> loss) {
    double[] slopes = new double[at.length];
    double[] point = at.clone();
    double[] values = new double[5];
    for (int i = 0; i < at.length; i++) {
      for (int k = -2; k <= 2; k++) {
        point[i] = at[i] + k * STEP;
        values[k + 2] = k == 0 ? 0 : loss.applyAsDouble(point);
      }
      point[i] = at[i];
      slopes[i] = (8 * (values[3] - values[1]) - (values[4] - values[0])) / (12 * STEP);
    }
    return slopes;
  }

  private static void agree(String what, Result is, Result differences) {
    for (int r = 0; r < is.dx.length; r++) {
      agree(what + ": dx of row " + r, is.dx[r], differences.dx[r]);
    }
    agree(what + ": dgain", is.dgain, differences.dgain);
    agree(what + ": dbias", is.dbias, differences.dbias);
  }

  /** In proportion to the largest of the row. */
  private static void agree(String what, double[] gradient, double[] differences) {
    double largest = Arrays.stream(gradient).map(Math::abs).max().orElseThrow();
    for (int i = 0; i < gradient.length; i++) {
      assertThat(Math.abs(gradient[i] - differences[i]))
          .as("%s, element %d: %s, differences give %s", what, i, gradient[i], differences[i])
          .isLessThanOrEqualTo(ALLOWED * largest);
    }
  }
}
