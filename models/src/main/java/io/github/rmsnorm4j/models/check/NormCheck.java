package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.EpsilonPlacement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Tells which norm made rows Y from rows X.
 *
 * <p>For each form (cast order, gain, residual, mean) it finds the scales that make every element
 * of a row equal: from the ratios of Y to X first, which excludes most forms in the first row, then
 * by bits. Epsilon, its place and the part of a row are compared with these scales.
 */
public final class NormCheck {
  private final Sample sample;
  private final Types types;
  private final List<Double> shares;
  private Map<Form, List<CastForm>> forms;
  private final Recovered.Rows rows;
  private List<Hypothesis> named = List.of();

  /**
   * Begins a check.
   *
   * @param sample the rows
   * @param shares shares of a row that a partial norm may be of, in addition to the usual ones
   * @throws IllegalArgumentException if the rows cannot tell anything
   */
  public NormCheck(Sample sample, List<Double> shares) {
    sample.requireRows();
    this.sample = sample;
    this.types = sample.types();
    this.shares = List.copyOf(shares);
    this.forms = Hypotheses.forms(types);
    this.rows = new Recovered.Rows(sample);
  }

  /**
   * A norm that fits.
   *
   * @param index its place in the table
   */
  record Fit(Recovered recovered, Statistic statistic, long[] distances, int index) {
    Hypothesis norm() {
      return new Hypothesis(recovered.form(), recovered.orders(), statistic);
    }

    long needed() {
      return Recovered.greatest(distances);
    }
  }

  /** {@return how many forms there are to try} */
  public int forms() {
    return forms.size();
  }

  /**
   * Checks.
   *
   * @param afterEachForm is run {@link #forms} times
   * @return which norms fit
   */
  public CheckReport run(Runnable afterEachForm) {
    List<Recovered> recovered = recovered(forms, afterEachForm);
    long window = Window.FULL;
    List<Fit> fits = listed(recovered, window);
    if (accurate(fits)) {
      window = Window.NEAR;
      fits = listed(recovered, window);
    }
    if (fits.isEmpty()) {
      fits = new Solver(recovered, sample, shares).solve(window);
    } else {
      fits.addAll(unlisted(recovered, fits));
    }
    if (fits.isEmpty()) {
      Map<Form, List<CastForm>> wide = Hypotheses.inFloat64(types);
      List<Recovered> exact = recovered(wide, () -> {});
      fits = listed(exact, window);
      fits = fits.isEmpty() ? new Solver(exact, sample, shares).solve(window) : fits;
      forms = fits.isEmpty() ? forms : wide;
    }
    fits.sort(
        Comparator.<Fit>comparingLong(fit -> fit.needed() <= Window.ACCURATE ? 0 : fit.needed())
            .thenComparing(fit -> !Hypotheses.EPSILONS.contains(fit.statistic().epsilon()))
            .thenComparingInt(fit -> fit.recovered().form().unusual())
            .thenComparing(fit -> fit.statistic().place())
            .thenComparingInt(Fit::index));
    Contrasts contrasts = new Contrasts(sample, forms, rows, window, shares);
    named = fits.stream().map(Fit::norm).toList();
    List<Finding> others =
        named.isEmpty() ? contrasts.closest(recovered) : contrasts.around(named.getFirst(), named);
    return report(fits, others, recovered, window);
  }

  /** {@return rows that tell the norms apart that {@link #run} has named} */
  public Probe probe() {
    return Probe.of(named, sample);
  }

  /** The norms that {@link #run} has named. */
  List<Hypothesis> named() {
    return named;
  }

  private List<Recovered> recovered(Map<Form, List<CastForm>> of, Runnable afterEachForm) {
    List<Recovered> recovered = new ArrayList<>();
    for (Map.Entry<Form, List<CastForm>> entry : of.entrySet()) {
      Recovered.of(entry, sample, rows).ifPresent(recovered::add);
      afterEachForm.run();
    }
    return recovered;
  }

  private List<Fit> listed(List<Recovered> recovered, long window) {
    List<Fit> fits = new ArrayList<>();
    for (Recovered form : recovered) {
      boolean layer = form.form().layer();
      for (Statistic statistic : Hypotheses.statistics(sample.width(), layer, shares)) {
        Solver.add(form, statistic, window, fits);
      }
    }
    return fits;
  }

  /**
   * Norms of an epsilon that is in no table. They are named too where those of the table need a
   * scale that is farther off, or have epsilon at another place than most norms.
   */
  private List<Fit> unlisted(List<Recovered> recovered, List<Fit> listed) {
    long best = listed.stream().mapToLong(Fit::needed).min().orElse(0);
    boolean inside =
        listed.stream().anyMatch(fit -> fit.statistic().place() == EpsilonPlacement.INSIDE);
    if (best <= Window.ACCURATE && inside) {
      return List.of();
    }
    return new Solver(recovered, sample, shares)
        .solveForEpsilon(Window.ACCURATE).stream()
            .filter(fit -> fit.needed() <= Math.max(best, Window.ACCURATE))
            .filter(fit -> listed.stream().noneMatch(other -> named(other).equals(named(fit))))
            .toList();
  }

  /** A norm's words, in which epsilons that are equal to four digits are the same. */
  private String named(Fit fit) {
    return fit.norm().words(types, sample.width());
  }

  /** Whether some norm fits with sums so accurate that a narrow window is enough. */
  private static boolean accurate(List<Fit> fits) {
    return fits.stream()
        .anyMatch(
            fit ->
                Window.showsAccuracy(fit.recovered().form())
                    && fit.needed() <= Window.ACCURATE
                    && fit.recovered().telling() >= Window.ENOUGH_ROWS);
  }

  /** Whether an epsilon or a part is in no table. */
  private boolean solved(Fit fit) {
    Statistic statistic = fit.statistic();
    return !Hypotheses.statistics(sample.width(), fit.recovered().form().layer(), shares)
        .contains(new Statistic(statistic.part(), statistic.epsilon(), statistic.place()));
  }

  private CheckReport report(
      List<Fit> fits, List<Finding> others, List<Recovered> recovered, long window) {
    boolean solved = !fits.isEmpty() && fits.stream().allMatch(this::solved);
    long elements = (long) sample.rows() * sample.width();
    Map<String, Finding> named = new LinkedHashMap<>();
    for (Fit fit : fits) {
      Finding finding =
          Finding.of(fit.norm(), types, sample.width(), Score.full(elements, fit.distances()));
      named.putIfAbsent(finding.norm(), finding);
    }
    double[] epsilons =
        fits.isEmpty() ? new double[] {Double.NaN, Double.NaN} : epsilons(fits.getFirst(), window);
    List<Finding> findings = List.copyOf(named.values());
    long exact = fits.isEmpty() ? 0 : Score.exactlyEqual(fits.getFirst().norm(), sample, rows);
    return new CheckReport(
        status(named.size()),
        new Verdict(findings, exact, others, epsilons, solved, !recovered.isEmpty(), sample)
            .sentences(),
        findings,
        others,
        epsilons[0],
        epsilons[1],
        sample.rows(),
        sample.width(),
        sample.notFinite(),
        sample.zero(),
        sample.outOfRange(),
        sample.contradicting(),
        sample.unchanged(),
        windowOf(fits, window));
  }

  private CheckReport.Status status(int named) {
    if (named == 0 || sample.contradicting() > 0 || sample.unchanged()) {
      return CheckReport.Status.UNKNOWN;
    }
    return named == 1 ? CheckReport.Status.RECOGNISED : CheckReport.Status.CANNOT_TELL;
  }

  /** The epsilons that fit as a norm's does; its own is one of them. */
  private static double[] epsilons(Fit fit, long window) {
    double own = fit.statistic().epsilon();
    double[] range = fit.recovered().epsilons(fit.statistic(), window);
    return range == null
        ? new double[] {own, own}
        : new double[] {Math.min(range[0], own), Math.max(range[1], own)};
  }

  /** In ulp, of the first norm. */
  private long windowOf(List<Fit> fits, long limit) {
    return fits.isEmpty()
        ? 0
        : Math.min(limit, Window.full(fits.getFirst().recovered().form(), sample.width()));
  }
}
