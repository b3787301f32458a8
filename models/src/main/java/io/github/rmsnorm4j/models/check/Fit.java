package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.Rows;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * What one norm makes of rows, compared with Y: with the statistics of this library, and where that
 * is not all of Y with statistics that are a few steps off, as sums in another order make them.
 * Each row, or group of a row, has the steps that make most of its elements equal. Elements grow or
 * fall with rstd, so steps are found by halving.
 */
final class Fit {
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

  /** Whether more than half of what was tried last is farther than roundings make it. */
  private final boolean[] isFar;

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
    gross = gross();
    made = new long[y.length];
    equal = new int[y.length / unit];
    Arrays.fill(equal, -1);
    largest = new double[equal.length];
    isFar = new boolean[equal.length];
    for (int coordinate = 0; coordinate < 2; coordinate++) {
      best[coordinate] = new long[equal.length];
      tried[coordinate] = new long[equal.length];
      votes[coordinate] = new long[equal.length];
    }
  }

  /** Larger differences, in last places of the output, are not those of roundings. */
  private long gross() {
    ElementType cast = candidate.cast(sample);
    ElementType output = candidate.output();
    double places =
        Candidate.isNarrow(output)
            ? 16
            : cast == null
                ? 8 * reach * candidate.compute().unitRoundoff() / output.unitRoundoff()
                : 16 * cast.unitRoundoff() / output.unitRoundoff();
    return (long) places;
  }

  private Rows biasOf(ElementType type) {
    Rows row = Sample.memory(type, 1, width);
    for (int i = 0; i < width; i++) {
      type.set(row.segment(), i, sample.bias.type().get(sample.bias.segment(), i));
    }
    return row;
  }

  static Fit of(Candidate candidate, Sample sample) {
    Fit fit = own(candidate, sample);
    int[] open =
        IntStream.range(0, fit.equal.length)
            .filter(u -> fit.equal[u] < fit.unit && !fit.isFar[u])
            .map(u -> u * fit.unit / fit.width)
            .distinct()
            .toArray();
    if (open.length > 0) {
      Fit rows = own(candidate, sample.pick(open));
      rows.move();
      fit.take(rows, open);
    }
    return fit;
  }

  private static Fit own(Candidate candidate, Sample sample) {
    Fit fit = new Fit(candidate, sample);
    fit.compare(Ordinals.of(candidate.applied(fit.norm, sample, candidate.output())));
    fit.own = Arrays.stream(fit.equal).sum();
    return fit;
  }

  /** Takes what was found for some of the rows. */
  private void take(Fit found, int[] rows) {
    int units = width / unit;
    for (int i = 0; i < rows.length; i++) {
      System.arraycopy(found.equal, i * units, equal, rows[i] * units, units);
      System.arraycopy(found.best[0], i * units, best[0], rows[i] * units, units);
      System.arraycopy(found.largest, i * units, largest, rows[i] * units, units);
      System.arraycopy(found.made, i * width, made, rows[i] * width, width);
    }
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

  /** Adds the elements that differ, and the rows without any. */
  void addTo(Places places) {
    for (int row = 0; row < sample.rows(); row++) {
      boolean whole = true;
      for (int column = 0; column < width; column++) {
        int i = row * width + column;
        if (made[i] != y[i]) {
          places.add(sample.numbers[row], column);
          whole = false;
        }
      }
      if (whole) {
        places.addWhole(sample.numbers[row]);
      }
    }
  }

  private void move() {
    Stepped stepped = new Stepped(candidate, sample, norm, candidate.output());
    if (!stepped.isPossible()) {
      return;
    }
    if (!candidate.spec().isCentred()) {
      halve(stepped, 0);
      return;
    }
    // The mean hides rstd, and rstd the mean.
    for (int coordinate : new int[] {0, 1, 0, 1, 0, 1}) {
      halve(stepped, coordinate);
    }
    // With the right rstd all votes for the mean agree.
    long[] found = tried[0].clone();
    for (int near = 0; near < 4 * AROUND && isPromising(); near++) {
      for (int u = 0; u < found.length; u++) {
        long step = (near / 4 + 1) * (near % 2 == 0 ? 1 : -1);
        tried[0][u] = near % 4 < 2 ? found[u] + step : step;
      }
      halve(stepped, 1);
    }
  }

  private boolean isPromising() {
    return 4L * Arrays.stream(equal).sum() > y.length;
  }

  /** Halves the range of one coordinate, 0 for rstd and 1 for the mean, for all units at once. */
  private void halve(Stepped stepped, int coordinate) {
    long limit = coordinate == 0 ? reach : Stepped.MEAN_STEPS;
    long[] at = tried[coordinate];
    long[] low = new long[at.length];
    long[] high = new long[at.length];
    Arrays.fill(low, -limit);
    Arrays.fill(high, limit);
    boolean open = Arrays.stream(equal).anyMatch(count -> count < unit);
    while (open) {
      long[] now = Ordinals.of(stepped.made(tried));
      open = false;
      compare(now);
      for (int u = 0; u < at.length; u++) {
        if (low[u] > high[u] || equal[u] == unit && (at[u] == 0 || coordinate == 1)) {
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
      int far = 0;
      long up = 0;
      long shift = 0;
      int column = u * unit % width;
      for (int i = u * unit; i < (u + 1) * unit; i++, column++) {
        if (now[i] == y[i]) {
          same++;
          continue;
        }
        double difference = Math.abs((double) y[i] - now[i]);
        most = Math.max(most, difference);
        int sign = y[i] > now[i] ? 1 : -1;
        if (difference > gross) {
          far++;
        } else {
          up += sign * Long.compare(now[i], bias[column]);
        }
        shift -= sign * gainSigns[column];
      }
      isFar[u] = 2 * far > unit;
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
