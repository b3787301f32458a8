package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.models.check.CheckReport.Status;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells which norm made rows Y from rows X. The norms of this library are applied, and their
 * elements are compared with Y.
 */
public final class NormCheck {
  /** The ulp of rstd that all but sums in one long chain need. */
  private static final long NEAR = 6;

  /** So many rows show how accurate the sums are. */
  private static final int ENOUGH_ROWS = 16;

  private final Sample sample;
  private final List<Double> shares;

  /**
   * Begins a check.
   *
   * @param sample the rows from which norms are found
   * @param shares shares of a row that a partial norm may be of, in addition to the usual ones
   * @throws IllegalArgumentException if the rows cannot tell anything
   */
  public NormCheck(Sample sample, List<Double> shares) {
    sample.requireTelling();
    this.sample = sample;
    this.shares = List.copyOf(shares);
  }

  /** {@return which norms made the rows} */
  public CheckReport run() {
    return run(List.of(sample));
  }

  /** A norm, and what of all parts it makes. */
  private static final class Whole {
    final Candidate norm;
    final Score ofSample;
    final Places places = new Places();
    Score score = Score.NONE;

    /** Where all of the sample is made, its score is known. */
    Whole(Candidate norm, Score ofSample) {
      this.norm = norm;
      this.ofSample = ofSample;
    }

    void add(Sample part, boolean isSample) {
      if (isSample && ofSample != null) {
        score = score.plus(ofSample);
        return;
      }
      Fit fit = Fit.of(norm, part);
      score = score.plus(fit.score());
      fit.addTo(places);
    }

    Finding finding(Sample of) {
      return Finding.of(norm, of, score);
    }
  }

  /**
   * Checks.
   *
   * @param parts all rows that the found norms are compared with, in their order; one part is in
   *     memory at a time
   * @return which norms made them
   */
  public CheckReport run(Iterable<Sample> parts) {
    Search found = Search.of(sample, shares);
    List<Whole> all = new ArrayList<>();
    found.fits().forEach(match -> all.add(new Whole(match.norm(), match.score())));
    found.others(shares).forEach(norm -> all.add(new Whole(norm, null)));
    long rows = 0;
    for (Sample part : parts) {
      rows += part.rows();
      Sample given = part.without(found.sample().gain == null, found.sample().bias == null);
      boolean isSample = part == sample;
      all.forEach(norm -> norm.add(given, isSample));
    }
    boolean lacks = !found.lacks().isEmpty();
    List<Whole> full = all.stream().filter(norm -> norm.score.isFull()).toList();
    List<Whole> named = lacks ? List.of() : accurate(full, rows);
    all.removeAll(named);
    all.sort((a, b) -> Long.compare(b.score.equal(), a.score.equal()));
    return report(found, named, all.subList(0, Math.min(Search.OTHERS, all.size())), rows);
  }

  /** Where enough rows show that sums are accurate, only norms that are near with such sums. */
  private static List<Whole> accurate(List<Whole> fits, long rows) {
    boolean accurate =
        rows >= ENOUGH_ROWS
            && fits.stream()
                .filter(fit -> fit.score.steps() <= Search.ACCURATE)
                .anyMatch(
                    fit ->
                        !Candidate.isNarrow(fit.norm.input())
                            && !Candidate.isNarrow(fit.norm.output()));
    return fits.stream().filter(fit -> !accurate || fit.score.steps() <= NEAR).toList();
  }

  private CheckReport report(Search found, List<Whole> named, List<Whole> others, long rows) {
    boolean unchanged = sample.isUnchanged();
    List<Finding> findings = named.stream().map(fit -> fit.finding(found.sample())).toList();
    List<Finding> nearest = others.stream().map(fit -> fit.finding(found.sample())).toList();
    Places places = others.isEmpty() ? null : others.getFirst().places;
    Verdict verdict = new Verdict(findings, nearest, found.lacks(), places, sample.width());
    return new CheckReport(
        unchanged ? Status.UNKNOWN : Status.of(named.size()),
        unchanged ? Verdict.UNCHANGED : verdict.sentences(),
        findings,
        nearest,
        rows,
        sample.width(),
        named.isEmpty() && places != null ? places.rows() : List.of(),
        named.isEmpty() && places != null ? places.columns() : List.of());
  }
}
