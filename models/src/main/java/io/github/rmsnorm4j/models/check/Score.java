package io.github.rmsnorm4j.models.check;

import java.util.Arrays;

/**
 * What one norm predicts, compared with Y. Of each row's scales within the window the one counts
 * that makes most elements equal.
 *
 * @param equal elements that are equal
 * @param elements all elements
 * @param largestUlp the largest difference, in last places of the output's type
 * @param missed the sum of squares of what the prediction misses
 * @param residual the sum of squares of what the exact formula misses
 * @param distances of each row, how many ulp the scale is from the exact one
 */
record Score(
    long equal,
    long elements,
    double largestUlp,
    double missed,
    double residual,
    long[] distances) {

  /** 1 if everything is explained; 0, or less, if it is no better than the exact formula. */
  double explained() {
    return missed == 0 ? 1 : 1 - missed / residual;
  }

  static Score of(Hypothesis norm, Sample sample, Recovered.Rows rows, long window) {
    Form form = norm.form();
    Parameters parameters = Parameters.of(form, sample);
    Score total = new Score(0, 0, 0, 0, 0, new long[0]);
    for (int row = 0; row < sample.rows(); row++) {
      Elements elements = new Elements(form, rows.row(form, row), parameters);
      total = total.plus(of(form, norm.statistic(), elements, sample.y(row), window));
    }
    return total;
  }

  /** How many elements are equal with the rstd that this library computes, the nearest one. */
  static long exactlyEqual(Hypothesis norm, Sample sample, Recovered.Rows rows) {
    Form form = norm.form();
    Parameters parameters = Parameters.of(form, sample);
    long equal = 0;
    for (int row = 0; row < sample.rows(); row++) {
      Elements elements = new Elements(form, rows.row(form, row), parameters);
      double scale = Grid.at(form.float64(), elements.scale(norm.statistic())).number(0);
      double centre = elements.centre(scale);
      double[] y = sample.y(row);
      for (int i = 0; i < y.length; i++) {
        equal += elements.at(i, scale, centre) == y[i] ? 1 : 0;
      }
    }
    return equal;
  }

  private static Score of(
      Form form, Statistic statistic, Elements row, double[] y, long usualWindow) {
    Grid grid = Grid.at(form.float64(), row.scale(statistic));
    long unit = Window.unit(form);
    long reach = Window.of(form, row, usualWindow) * unit;
    double scale = grid.number(0);
    double centre = row.findsMean() ? new MeanFit(row, y).forMost(scale) : row.centre(scale);
    Sweep sweep = new Sweep(y.length);
    for (int i = 0; i < y.length; i++) {
      int element = i;
      sweep.add(k -> row.at(element, grid.number(k), centre), y[i], -reach, reach);
    }
    long best = sweep.best(0);
    double root = statistic.root(row.moment(statistic.part()));
    long equal = 0;
    double largest = 0;
    double missed = 0;
    double residual = 0;
    for (int i = 0; i < y.length; i++) {
      double predicted = row.at(i, grid.number(best), centre);
      double difference = Math.abs(predicted - y[i]);
      equal += difference == 0 ? 1 : 0;
      if (difference > 0) {
        double size = Math.max(Math.abs(predicted), Math.abs(y[i]));
        largest = Math.max(largest, difference / LastPlace.ulp(size, form.output()));
      }
      missed += difference * difference;
      double exact = y[i] - row.exact(i, root);
      residual += exact * exact;
    }
    long distance = Math.ceilDiv(Math.abs(best), unit);
    return new Score(equal, y.length, largest, missed, residual, new long[] {distance});
  }

  private Score plus(Score row) {
    long[] all = Arrays.copyOf(distances, distances.length + 1);
    all[distances.length] = row.distances[0];
    return new Score(
        equal + row.equal,
        elements + row.elements,
        Math.max(largestUlp, row.largestUlp),
        missed + row.missed,
        residual + row.residual,
        all);
  }

  /** Of a norm that fits: everything is equal. */
  static Score full(long elements, long[] distances) {
    return new Score(elements, elements, 0, 0, 0, distances);
  }
}
