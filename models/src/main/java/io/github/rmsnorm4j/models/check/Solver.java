package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.EpsilonPlacement;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;

/**
 * Solves for an epsilon, or for the part of a row, that is not in the table. One row allows many,
 * so two rows or more have to agree.
 */
record Solver(List<Recovered> recovered, Sample sample, List<Double> shares) {
  private static final double GREATEST_EPSILON = 1;

  List<NormCheck.Fit> solve(long window) {
    List<NormCheck.Fit> fits = new ArrayList<>();
    for (Recovered form : recovered) {
      if (form.telling() >= 2) {
        epsilons(form, window, fits);
        if (form.form().layer()) {
          sampleVariance(form, window, fits);
        } else {
          parts(form, window, fits);
        }
      }
    }
    return fits;
  }

  /** Solves for epsilon alone. */
  List<NormCheck.Fit> solveForEpsilon(long window) {
    List<NormCheck.Fit> fits = new ArrayList<>();
    for (Recovered form : recovered) {
      if (form.telling() >= 2) {
        epsilons(form, window, fits);
      }
    }
    return fits;
  }

  private void epsilons(Recovered form, long window, List<NormCheck.Fit> fits) {
    int width = sample.width();
    boolean layer = form.form().layer();
    for (int part : layer ? List.of(width) : Hypotheses.parts(width, shares)) {
      for (EpsilonPlacement place : EpsilonPlacement.values()) {
        epsilon(form, new Statistic(part, 0, place), window, fits);
      }
    }
  }

  /**
   * LayerNorm with the sample variance, a mistake of ports: with an epsilon of the table, or not.
   */
  private void sampleVariance(Recovered form, long window, List<NormCheck.Fit> fits) {
    int before = fits.size();
    for (Statistic usual : Hypotheses.statistics(sample.width(), true, shares)) {
      Statistic statistic = new Statistic(usual.part(), usual.epsilon(), usual.place(), true);
      add(form, statistic, window, fits);
    }
    for (EpsilonPlacement place : EpsilonPlacement.values()) {
      if (fits.size() == before) {
        epsilon(form, new Statistic(sample.width(), 0, place, true), window, fits);
      }
    }
  }

  private static void epsilon(
      Recovered form, Statistic zero, long window, List<NormCheck.Fit> fits) {
    double[] range = form.epsilons(zero, window);
    if (range != null && range[0] < GREATEST_EPSILON && range[1] > 0) {
      double epsilon = roundest(range[0], Math.min(range[1], GREATEST_EPSILON));
      Statistic statistic = zero.with(epsilon, zero.place());
      if (zero.place() != EpsilonPlacement.FLOOR || aboveSomeFloor(form, statistic)) {
        add(form, statistic, window, fits);
      }
    }
  }

  /** With every row on the floor, Y would be a multiple of X, and no norm of it. */
  private static boolean aboveSomeFloor(Recovered form, Statistic floor) {
    return form.rows().stream()
        .anyMatch(row -> Math.sqrt(row.moment(floor.part())) > floor.epsilon());
  }

  private void parts(Recovered form, long window, List<NormCheck.Fit> fits) {
    // The first row excludes most parts, by sums that are good enough for that.
    Elements first = form.rows().getFirst();
    double sum = 0;
    for (int part = 1; part < sample.width(); part++) {
      sum += first.square(part - 1);
      for (double epsilon : Hypotheses.EPSILONS) {
        for (EpsilonPlacement place : EpsilonPlacement.values()) {
          Statistic statistic = new Statistic(part, epsilon, place);
          double root = statistic.root(sum / part);
          double scale = first.rounded(form.form().divides() ? root : 1 / root);
          long far = form.ranges().getFirst().distance(form.form().float64(), scale);
          if (far <= (Window.of(form.form(), first, window) + 4) * Window.unit(form.form())) {
            add(form, statistic, window, fits);
          }
        }
      }
    }
  }

  /** Adds a statistic that is near enough in every row. */
  static void add(Recovered form, Statistic statistic, long window, List<NormCheck.Fit> fits) {
    if (form.fits(statistic, window)) {
      fits.add(new NormCheck.Fit(form, statistic, form.distances(statistic), fits.size()));
    }
  }

  /** The number between two others that has the fewest digits. */
  static double roundest(double lo, double hi) {
    double middle = lo == 0 ? hi / 2 : Math.sqrt(lo) * Math.sqrt(hi);
    for (int digits = 1; digits < 17; digits++) {
      double rounded = new BigDecimal(middle).round(new MathContext(digits)).doubleValue();
      if (rounded >= lo && rounded <= hi) {
        return rounded;
      }
    }
    return middle;
  }
}
