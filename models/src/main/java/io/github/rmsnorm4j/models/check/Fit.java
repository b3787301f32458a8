package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.RowStatistics;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * What one norm makes of rows, compared with Y: with the statistics of this library, and where that
 * is not all of Y with statistics that are a few steps off, as sums in another order make them.
 * Each row, or group of a row, has the steps that make most of its elements equal. Elements grow or
 * fall with rstd, so steps are found by halving.
 */
final class Fit {
  /** Steps from one mean to the next are this part of what sums may err. */
  private static final long MEAN_STEPS = 1L << 32;

  /** Steps of rstd that are tried around those that are found for a LayerNorm, and around 0. */
  private static final int AROUND = 4;

  /** In halves of the last place of the row's type, where the sum itself is in that type. */
  private static final int STEPS_IN_ROW_TYPE = 8;

  private final Candidate candidate;
  private final Sample sample;
  private final Norm norm;
  private final int width;
  private final int unit;
  private final long[] y;
  private final long[] bias;
  private final int[] gainSigns;
  private final long reach;
  private final long gross;

  /** For each unit, a row or a group: what is best, and the votes of what was tried last. */
  private final int[] equal;

  private final long[][] best = new long[2][];
  private final long[][] tried = new long[2][];
  private final long[][] votes = new long[2][];
  private final double[] largest;
  final long[] made;
  private int own;

  private Fit(Candidate candidate, Sample sample) {
    this.candidate = candidate;
    this.sample = sample;
    norm = candidate.norm(sample);
    width = sample.width();
    unit = width / candidate.spec().groups().count(width);
    y = sample.ordinals(candidate.output());
    bias = sample.bias == null ? new long[width] : Ordinals.of(biasOf(candidate.output()));
    gainSigns = new int[width];
    for (int i = 0; i < width; i++) {
      double g = sample.gain == null ? 1 : sample.gain.type().get(sample.gain.segment(), i);
      gainSigns[i] = (int) Math.signum(candidate.spec().gainOffset() + g);
    }
    reach = candidate.roundsSteps() ? STEPS_IN_ROW_TYPE : window(candidate.input(), unit);
    double wider = candidate.compute().unitRoundoff() / candidate.output().unitRoundoff();
    gross = Candidate.isNarrow(candidate.output()) ? 16 : (long) (8 * reach * wider);
    made = new long[y.length];
    equal = new int[y.length / unit];
    Arrays.fill(equal, -1);
    largest = new double[equal.length];
    for (int coordinate = 0; coordinate < 2; coordinate++) {
      best[coordinate] = new long[equal.length];
      tried[coordinate] = new long[equal.length];
      votes[coordinate] = new long[equal.length];
    }
  }

  private Rows biasOf(ElementType type) {
    Rows row = Sample.memory(type, 1, width);
    for (int i = 0; i < width; i++) {
      type.set(row.segment(), i, sample.bias.type().get(sample.bias.segment(), i));
    }
    return row;
  }

  static Fit of(Candidate candidate, Sample sample) {
    Fit fit = new Fit(candidate, sample);
    fit.compare(Ordinals.of(candidate.applied(fit.norm, sample, candidate.output())));
    fit.own = Arrays.stream(fit.equal).sum();
    if (fit.own < fit.y.length) {
      fit.move();
    }
    return fit;
  }

  /**
   * How many float32 numbers the rstd of a system may be from the exact one. The worst order of a
   * sum is one after the other. Its n roundings err by {@code sqrt(n) / 3} units in the sum (root
   * of the mean square), so by {@code sqrt(n) / 6} ulp in rstd; 4.5 times that is almost never
   * passed. Squares of 16-bit numbers have few digits, so their roundings are not independent: in
   * 100 rows of up to 16,384 elements the greatest error was {@code 3.06 sqrt(n)}. Four more ulp
   * are for the mean, for epsilon, and for a reciprocal root that is right to two ulp.
   */
  static long window(ElementType input, int width) {
    return 4 + (long) Math.ceil((Candidate.isNarrow(input) ? 3.1 : 0.75) * Math.sqrt(width));
  }

  Score score() {
    long all = 0;
    double greatest = 0;
    long steps = 0;
    for (int u = 0; u < equal.length; u++) {
      all += equal[u];
      greatest = Math.max(greatest, largest[u]);
      steps = Math.max(steps, Math.abs(best[0][u]));
    }
    long ulps = candidate.roundsSteps() ? Math.ceilDiv(steps, 2) : steps;
    return new Score(own, all, y.length, greatest, ulps);
  }

  /** Adds the elements that differ. */
  void addTo(Places places) {
    for (int i = 0; i < y.length; i++) {
      if (made[i] != y[i]) {
        places.add(sample.numbers[i / width], i % width);
      }
    }
  }

  /** The rows that are normalised, or that the statistic is of. */
  private Rows rows(boolean measured) {
    if (sample.residual == null) {
      return sample.as(sample.x, candidate.input());
    }
    ResidualRounding rounding = candidate.spec().residualRounding();
    boolean rounded =
        rounding == ResidualRounding.FIRST || rounding == ResidualRounding.BETWEEN && !measured;
    return sample.sum(candidate.input(), rounded ? candidate.sumType(sample) : candidate.compute());
  }

  private void move() {
    Rows x = rows(false);
    if (candidate.roundsToInput() && x.type() != candidate.input()) {
      return;
    }
    double[] rstd = new double[equal.length];
    double[] mean = candidate.spec().isCentred() ? new double[equal.length] : null;
    Rows measured = rows(true);
    norm.statistics(measured, mean == null ? RowStatistics.of(rstd) : RowStatistics.of(mean, rstd));
    Given given = given(x, mean, rstd);
    if (mean == null) {
      halve(given, 0);
      return;
    }
    // The mean hides rstd, and rstd the mean.
    for (int coordinate : new int[] {1, 0, 1, 0, 1}) {
      halve(given, coordinate);
    }
    // With the right rstd all votes for the mean agree.
    long[] found = tried[0].clone();
    for (int near = 0; near < 4 * AROUND && isPromising(); near++) {
      for (int u = 0; u < rstd.length; u++) {
        long step = (near / 4 + 1) * (near % 2 == 0 ? 1 : -1);
        tried[0][u] = near % 4 < 2 ? found[u] + step : step;
      }
      halve(given, 1);
    }
  }

  private boolean isPromising() {
    return 4L * Arrays.stream(equal).sum() > y.length;
  }

  /** Makes Y with statistics that are {@link #tried} steps from their own. */
  private interface Given {
    long[] made();
  }

  private Given given(Rows x, double[] mean, double[] rstd) {
    if (candidate.divides() && !candidate.roundsSteps()) {
      return divided(candidate.roundsToInput() ? x : sample.as(x, candidate.compute()), rstd);
    }
    Rows out = Sample.memory(candidate.output(), x.rows(), width);
    double[] steppedMean = mean == null ? null : new double[mean.length];
    double[] stepped = new double[rstd.length];
    RowStatistics statistics =
        mean == null ? RowStatistics.of(stepped) : RowStatistics.of(steppedMean, stepped);
    long step = candidate.roundsSteps() ? stepInRowType() : 1;
    boolean float64 = candidate.compute() == ElementType.FLOAT64;
    return () -> {
      for (int u = 0; u < rstd.length; u++) {
        stepped[u] = Ordinals.step(rstd[u], tried[0][u] * step, float64);
        if (mean != null) {
          double off = meanError(mean[u], rstd[u]) * tried[1][u] / MEAN_STEPS;
          steppedMean[u] = float64 ? mean[u] + off : (float) (mean[u] + off);
        }
      }
      norm.apply(x, statistics, out);
      return Ordinals.of(out);
    };
  }

  private long stepInRowType() {
    double digits = candidate.input().unitRoundoff() / ElementType.FLOAT32.unitRoundoff();
    return Math.max(1, (long) digits / 2);
  }

  /** How far a mean that was summed in the compute type may be from the exact one. */
  private double meanError(double mean, double rstd) {
    double deviation = rstd > 0 ? 1 / rstd : 0;
    double ofMean = (2 + 1.5 * Math.sqrt(unit)) * Math.abs(mean);
    return candidate.compute().unitRoundoff() * (ofMean + 4 * deviation);
  }

  /**
   * A norm that divides takes 1 / rstd for the root of a given statistic, which leaves some roots
   * out. So each row of a group gets elements in front of it that have this root, and a statistic
   * of these elements alone.
   */
  private Given divided(Rows x, double[] rstd) {
    int groups = width / unit;
    ElementType type = x.type();
    int front = Candidate.isNarrow(type) ? 4 : 1;
    int wide = unit + front;
    RowPart part = RowPart.of(front, wide);
    NormSpec spec = candidate.spec().withGroups(RowGroups.WHOLE).withPart(part);
    Rows gain = sample.gain == null ? null : candidate.gainWithOffset(sample.gain);
    Norm[] norms = new Norm[groups];
    Rows[] rows = new Rows[groups];
    for (int group = 0; group < groups; group++) {
      var builder =
          spec.withEpsilon(0).withGainOffset(0).builder(wide).backend(Backend.scalar()).threads(1);
      if (gain != null) {
        Rows own = Sample.memory(gain.type(), 1, wide);
        copy(gain, group * unit, own, front);
        builder.gain(own);
      }
      norms[group] = builder.build();
      rows[group] = Sample.memory(type, x.rows(), wide);
      for (long row = 0; row < x.rows(); row++) {
        copy(x, row * width + group * unit, rows[group], row * wide + front);
      }
    }
    Rows made = Sample.memory(candidate.output(), x.rows(), wide);
    Rows all = Sample.memory(candidate.output(), x.rows(), width);
    return () -> {
      for (int group = 0; group < groups; group++) {
        for (int row = 0; row < x.rows(); row++) {
          int u = row * groups + group;
          double root =
              Ordinals.step(1 / rstd[u], -tried[0][u], candidate.compute() == ElementType.FLOAT64);
          double rest = root * root * front;
          double down = 1 - 1.5 * type.unitRoundoff();
          for (int i = 0; i < front; i++) {
            // Of four numbers, each has the digits that those before it left.
            double next =
                front == 1 ? root : type.round(Math.sqrt(Math.max(0, rest)) * (i < 3 ? down : 1));
            type.set(rows[group].segment(), (long) row * wide + i, next);
            rest -= next * next;
          }
        }
        norms[group].apply(rows[group], made);
        for (long row = 0; row < x.rows(); row++) {
          copy(made, row * wide + front, all, row * width + group * unit);
        }
      }
      return Ordinals.of(all);
    };
  }

  private void copy(Rows from, long first, Rows to, long into) {
    int bytes = from.type().bytes();
    MemorySegment.copy(
        from.segment(), first * bytes, to.segment(), into * bytes, (long) unit * bytes);
  }

  /** Halves the range of one coordinate, 0 for rstd and 1 for the mean, for all units at once. */
  private void halve(Given given, int coordinate) {
    boolean layer = candidate.spec().isCentred();
    long limit = coordinate == 0 ? reach : MEAN_STEPS;
    long[] at = tried[coordinate];
    long[] low = new long[at.length];
    long[] high = new long[at.length];
    Arrays.fill(low, -limit);
    Arrays.fill(high, limit);
    boolean open = Arrays.stream(equal).anyMatch(count -> count < unit);
    while (open) {
      long[] now = given.made();
      open = false;
      compare(now);
      for (int u = 0; u < at.length; u++) {
        if (low[u] > high[u] || equal[u] == unit && (at[u] == 0 || layer)) {
          continue;
        }
        // What is equal throughout, or balanced, is sought nearer to its own statistic.
        long vote = votes[coordinate][u];
        boolean up = vote == 0 ? at[u] < 0 : vote > 0;
        if (up) {
          low[u] = at[u] + 1;
        } else {
          high[u] = at[u] - 1;
        }
        if (low[u] <= high[u]) {
          at[u] = Math.floorDiv(low[u] + high[u], 2);
          open = true;
        }
      }
    }
  }

  /** Compares, keeps what is better than before, and counts votes for larger coordinates. */
  private void compare(long[] now) {
    for (int u = 0; u < equal.length; u++) {
      int same = 0;
      double most = 0;
      long up = 0;
      long shift = 0;
      for (int i = u * unit; i < (u + 1) * unit; i++) {
        if (now[i] == y[i]) {
          same++;
          continue;
        }
        double difference = (double) y[i] - now[i];
        most = Math.max(most, Math.abs(difference));
        int column = i % width;
        int sign = y[i] > now[i] ? 1 : -1;
        up += Math.abs(difference) > gross ? 0 : sign * Long.compare(now[i], bias[column]);
        shift -= sign * gainSigns[column];
      }
      votes[0][u] = up;
      votes[1][u] = shift;
      boolean nearer = same == equal[u] && Math.abs(tried[0][u]) < Math.abs(best[0][u]);
      if (same > equal[u] || nearer) {
        equal[u] = same;
        largest[u] = most;
        best[0][u] = tried[0][u];
        best[1][u] = tried[1][u];
        System.arraycopy(now, u * unit, made, u * unit, unit);
      }
    }
  }
}
