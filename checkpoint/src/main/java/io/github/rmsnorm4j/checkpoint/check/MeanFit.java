package io.github.rmsnorm4j.checkpoint.check;

/** The mean that makes most elements equal, for a given scale. */
final class MeanFit {
  private MeanFit() {}

  static double of(Elements row, double[] y, double scale) {
    double mean = row.mean();
    double tolerance = row.meanTolerance();
    double step = Math.max(row.ulp(mean), tolerance * 0x1p-20);
    if (step == 0) {
      return mean;
    }
    long reach = (long) Math.ceil(tolerance / step);
    Sweep sweep = new Sweep(y.length);
    for (int i = 0; i < y.length; i++) {
      int element = i;
      sweep.add(k -> row.at(element, scale, row.rounded(mean + k * step)), y[i], -reach, reach);
    }
    return row.rounded(mean + sweep.best(0) * step);
  }
}
