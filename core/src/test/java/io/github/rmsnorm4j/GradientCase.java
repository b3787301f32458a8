package io.github.rmsnorm4j;

import io.github.rmsnorm4j.reference.Definitions;
import java.util.Arrays;
import java.util.SplittableRandom;

/** One norm, with or without groups and a gate, and its rows in float64, drawn from a seed. */
final class GradientCase {
  private static final Gate[] GATES = {Gate.SILU, Gate.SIGMOID, Gate.SILU_BEFORE};

  final int width;
  final double[][] x;
  final double[][] z;
  final double[] gain;
  final double[] bias;
  final Variant is;

  /** Elements of gain and bias: those of a row, or of a group if all groups share them. */
  final int parameters;

  private final int groups;
  private final Keep keep;
  private final double[][] residual;
  private final double[][] dy;
  private final double[][] dresidual;

  /** dz is null without a gate. */
  record Result(double[][] dx, double[][] dz, double[] dgain, double[] dbias) {}

  GradientCase(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int rows = random.nextInt(1, 5);
    int drawnGroups = random.nextInt(3) == 0 ? random.nextInt(2, 5) : 1;
    // If a row has one element, or two less their mean, all terms may cancel.
    width = drawnGroups * (drawnGroups > 1 ? random.nextInt(4, 20) : random.nextInt(3, 70));
    Gate gate = random.nextInt(3) == 0 ? GATES[random.nextInt(3)] : Gate.NONE;
    double[] epsilons = {1e-6, 1e-2, 0.7};
    boolean centred = gate != Gate.SILU_BEFORE && random.nextBoolean();
    Variant any = Variant.any(random, centred, width, epsilons[random.nextInt(3)]);
    is = any.withGroups(drawnGroups).with(gate);
    groups = is.groups();
    boolean output = gate == Gate.NONE && is.part() == width && random.nextInt(3) == 0;
    keep = output ? Keep.OUTPUT : random.nextBoolean() ? Keep.INPUT : Keep.NOTHING;
    double[][] sums = drawn(random, rows, 2);
    Arrays.setAll(sums, r -> awayFromZero(sums[r], 0)); // Where the root bends, a step is too far.
    residual = gate == Gate.NONE && random.nextInt(3) == 0 ? drawn(random, rows, 1) : null;
    x = residual == null ? sums : minus(sums, residual);
    z = gate == Gate.NONE ? null : drawn(random, rows, 2);
    for (int r = 0; z != null && r < rows; r++) {
      z[r] = awayFromZero(z[r], 0);
    }
    dy = drawn(random, rows, 1);
    dresidual = residual != null ? drawn(random, rows, 1) : null;
    parameters = random.nextInt(3) == 0 ? width / groups : width;
    gain = random.nextInt(4) > 0 ? awayFromZero(parameter(random, 2), is.gainOffset()) : null;
    boolean mayHaveBias = is.order() == CastOrder.FLOAT32;
    bias = mayHaveBias && random.nextBoolean() ? parameter(random, 1) : null;
  }

  private double[][] drawn(SplittableRandom random, int rows, double size) {
    double[][] values = new double[rows][];
    Arrays.setAll(values, r -> random.doubles(width, -size, size).toArray());
    return values;
  }

  private double[] parameter(SplittableRandom random, double size) {
    return random.doubles(parameters, -size, size).toArray();
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

  private ReferenceRow group(
      int group, int row, double[] x, double[] z, double[] gain, double[] bias) {
    return new ReferenceRow(
        is.ofGroup(),
        part(x, group),
        residual == null ? null : part(residual[row], group),
        part(z, group),
        part(dy[row], group),
        dresidual == null ? null : part(dresidual[row], group),
        part(gain, group),
        part(bias, group));
  }

  /** What a group has of a row, or of parameters, which all groups may share. */
  private double[] part(double[] of, int group) {
    boolean whole = of == null || of.length < width;
    return whole ? of : Definitions.group(of, groups, group);
  }

  /** What the gradients are of, for one row. */
  double loss(int row, double[] x, double[] z, double[] gain, double[] bias) {
    double loss = 0;
    for (int g = 0; g < groups; g++) {
      loss += group(g, row, x, z, gain, bias).loss();
    }
    return loss;
  }

  private Result empty() {
    int rows = x.length;
    return new Result(
        new double[rows][width],
        z == null ? null : new double[rows][width],
        new double[parameters],
        new double[parameters]);
  }

  Result reference() {
    Result result = empty();
    int n = width / groups;
    for (int r = 0; r < x.length; r++) {
      for (int g = 0; g < groups; g++) {
        double[] ofZ = z == null ? null : z[r];
        ReferenceRow.Slopes slopes = group(g, r, x[r], ofZ, gain, bias).slopes();
        System.arraycopy(slopes.dx(), 0, result.dx[r], g * n, n);
        if (z != null) {
          System.arraycopy(slopes.dz(), 0, result.dz[r], g * n, n);
        }
        for (int i = 0; i < n; i++) {
          int at = (g * n + i) % parameters;
          result.dgain[at] += slopes.dgain()[i];
          result.dbias[at] += slopes.dbias()[i];
        }
      }
    }
    return result;
  }

  Result library() {
    int rows = x.length;
    // A gated call takes no gain.
    boolean ofNorm = z != null;
    Norm norm =
        is.norm(
            builder -> {
              if (ofNorm && gain != null) {
                builder.gain(gain);
              }
              if (ofNorm && bias != null) {
                builder.bias(bias);
              }
            });
    Saved saved = new Saved(keep, rows * groups);
    Rows g = gain == null ? null : Rows.of(gain, parameters);
    Rows b = bias == null ? null : Rows.of(bias, parameters);
    Rows y = rows(new double[rows][width]);
    Result result = empty();
    Rows dx = rows(result.dx);
    Rows dz = z == null ? null : rows(result.dz);
    ParameterGradients gradients = ParameterGradients.assigned(result.dgain, result.dbias);
    if (z != null) {
      norm.applyGated(rows(x), rows(z), y, saved);
      norm.backwardGated(rows(dy), saved, dx, dz, gradients);
      copy(dz, result.dz);
    } else if (residual == null) {
      norm.withParameters(g, b).apply(rows(x), y, saved);
      norm.backward(rows(dy), saved, dx, gradients);
    } else {
      norm.withParameters(g, b).addAndApply(rows(x), rows(residual), y, saved);
      norm.backward(rows(dy), saved, rows(dresidual), dx, gradients);
    }
    copy(dx, result.dx);
    return result;
  }

  private Rows rows(double[][] values) {
    return Rows.of(Arrays.stream(values).flatMapToDouble(Arrays::stream).toArray(), width);
  }

  private void copy(Rows rows, double[][] into) {
    for (int i = 0; i < into.length * width; i++) {
      into[i / width][i % width] = ElementType.FLOAT64.get(rows.segment(), i);
    }
  }

  @Override
  public String toString() {
    return "%s, %d groups, gate %s, gain %s, bias %s, residual %s, keep %s"
        .formatted(is, groups, is.gate(), gain != null, bias != null, residual != null, keep);
  }
}
