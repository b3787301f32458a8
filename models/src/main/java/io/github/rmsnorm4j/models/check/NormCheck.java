package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.check.CheckReport.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Tells which norm made rows Y from rows X. The norms of this library are applied, and their
 * elements are compared with Y: a few rows exclude most norms, and the others are applied to all.
 */
public final class NormCheck {
  /** So many elements are compared first, in at least {@link #FEW_ROWS} rows. */
  private static final int FEW_ELEMENTS = 1 << 9;

  private static final int FEW_ROWS = 3;
  private static final int MOST_FEW_ROWS = 16;

  /** So many norms are compared with all rows, and those that are as near as the nearest. */
  private static final int KEPT = 24;

  private static final int OTHERS = 8;
  private static final int PER_CHOICE = 2;

  /** The ulp of rstd that sums in float64, and most in lanes, need. */
  private static final long ACCURATE = 2;

  /** What all but sums in one long chain need. */
  private static final long NEAR = 6;

  /** So many rows show how accurate the sums are. */
  private static final int ENOUGH_ROWS = 16;

  private static final Comparator<Match> NEAREST =
      Comparator.<Match>comparingLong(match -> -match.score.equal())
          .thenComparing(match -> !match.candidate.listed());

  private final Sample sample;
  private final List<Double> shares;

  /** A norm and how much of Y it makes. */
  record Match(Candidate candidate, Score score, Places places) {
    boolean isAccurate() {
      return score.steps() <= ACCURATE;
    }
  }

  /** What was found of rows with some of the parameters. */
  record Search(Sample sample, String lacks, List<Match> matches) {
    Match best() {
      return matches.getFirst();
    }
  }

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

  /**
   * Checks.
   *
   * @param parts all rows that the found norms are compared with, in their order; one part is in
   *     memory at a time
   * @return which norms made them
   */
  public CheckReport run(Iterable<Sample> parts) {
    Search found = search();
    List<Candidate> fits = candidates(found.matches.stream().filter(m -> m.score.isFull()));
    List<Candidate> others =
        fits.isEmpty()
            ? candidates(found.matches.stream().limit(OTHERS))
            : around(found.sample, found.matches.getFirst().candidate, fits);
    List<Match> all = new ArrayList<>();
    fits.forEach(fit -> all.add(new Match(fit, Score.NONE, new Places())));
    others.forEach(other -> all.add(new Match(other, Score.NONE, new Places())));
    long rows = 0;
    for (Sample part : parts) {
      rows += part.rows();
      all.replaceAll(match -> match(match.candidate, like(part, found.sample), match));
    }
    List<Match> named = accurate(all.stream().filter(match -> match.score.isFull()).toList(), rows);
    List<Match> rest =
        all.stream().filter(match -> !named.contains(match)).sorted(NEAREST).toList();
    return report(found, found.lacks.isEmpty() ? named : List.of(), named, rest, rows);
  }

  private static List<Candidate> candidates(Stream<Match> matches) {
    return matches.map(Match::candidate).toList();
  }

  private static Sample like(Sample part, Sample found) {
    return part.without(found.gain == null, found.bias == null);
  }

  /** Tries lists first, then what is in no list, and then to leave out what was given. */
  private Search search() {
    List<Search> searches = new ArrayList<>();
    List<Match> listed = matches(sample, sample.inputs());
    searches.add(new Search(sample, "", listed));
    Set<ElementType> wide = Set.of(ElementType.FLOAT64);
    if (!listed.getFirst().score.isFull() && sample.x.type() != ElementType.FLOAT64) {
      searches.add(new Search(sample, "", matches(sample, wide)));
    }
    if (searches.stream().noneMatch(search -> search.best().score.isFull())) {
      for (int without = 1; without < 4; without++) {
        boolean noGain = (without & 1) > 0;
        boolean noBias = (without & 2) > 0;
        if ((!noGain || sample.gain != null) && (!noBias || sample.bias != null)) {
          Sample less = sample.without(noGain, noBias);
          String lacks = noGain && noBias ? "--gain and --bias" : noGain ? "--gain" : "--bias";
          searches.add(new Search(less, lacks, matches(less, less.inputs())));
        }
      }
    }
    return searches.stream()
        .min(Comparator.comparingLong(search -> -search.best().score.equal()))
        .orElseThrow();
  }

  /** Norms by how much of Y they make; those that make all of it likeliest first. */
  private List<Match> matches(Sample of, Set<ElementType> inputs) {
    Sample few = few(of);
    Shapes shapes = new Shapes(few, shares);
    List<Match> matches = matches(of, few, shapes.near(), inputs);
    boolean certain =
        matches.stream()
            .filter(match -> match.score.isFull() && match.isAccurate())
            .anyMatch(match -> match.candidate.place() == EpsilonPlacement.INSIDE);
    if (!certain && !shapes.solved().isEmpty()) {
      matches.addAll(unlisted(of, matches, matches(of, few, shapes.solved(), inputs)));
    }
    matches.sort(
        NEAREST
            .thenComparing(match -> match.score.own() < match.score.elements())
            .thenComparingLong(match -> match.isAccurate() ? 0 : match.score.steps())
            .thenComparingInt(match -> match.candidate.unusual())
            .thenComparing(match -> match.candidate.place()));
    return matches;
  }

  static Sample few(Sample of) {
    return of.few(Math.clamp(FEW_ELEMENTS / of.width(), FEW_ROWS, MOST_FEW_ROWS));
  }

  private static List<Match> matches(
      Sample of, Sample few, List<Shapes.Shape> shapes, Set<ElementType> inputs) {
    Stream<NormSpec> specs = shapes.stream().map(Shapes.Shape::spec);
    boolean listed = shapes.getFirst().listed();
    List<Match> first = scored(few, Candidates.of(of, specs, listed, inputs));
    first.sort(NEAREST);
    Score best = first.getFirst().score;
    List<Candidate> kept = new ArrayList<>();
    for (Match match : first) {
      if (match.score.equal() == best.equal() || kept.size() < KEPT && !best.isFull()) {
        kept.add(match.candidate);
      }
    }
    return scored(of, kept);
  }

  private static List<Match> scored(Sample of, Collection<Candidate> candidates) {
    List<Match> matches = new ArrayList<>();
    candidates.forEach(each -> matches.add(match(each, of, null)));
    return matches;
  }

  private static Match match(Candidate candidate, Sample of, Match before) {
    Fit fit = Fit.of(candidate, of);
    if (before == null) {
      return new Match(candidate, fit.score(), null);
    }
    fit.addTo(before.places);
    return new Match(candidate, before.score.plus(fit.score()), before.places);
  }

  /**
   * Solved norms that fit as well as listed ones, or where none fits all: of those that differ in
   * their epsilon alone the one with fewest digits, and none where a listed one fits.
   */
  private static List<Match> unlisted(Sample of, List<Match> listed, List<Match> solved) {
    long most =
        listed.stream()
            .filter(match -> match.score.isFull())
            .mapToLong(match -> Math.max(ACCURATE, match.score.steps()))
            .min()
            .orElse(Long.MAX_VALUE);
    Map<List<Object>, Match> best = new LinkedHashMap<>();
    listed.stream()
        .filter(match -> match.score.isFull())
        .forEach(match -> best.putIfAbsent(match.candidate.formula(of, false), match));
    solved.stream()
        .filter(match -> match.score.steps() <= most)
        .filter(match -> match.score.isFull() || most == Long.MAX_VALUE)
        .sorted(NEAREST.thenComparingInt(match -> match.candidate.digits()))
        .forEach(match -> best.putIfAbsent(match.candidate.formula(of, false), match));
    return best.values().stream().filter(match -> !match.candidate.listed()).toList();
  }

  /** Norms that differ from one in one choice: of each choice the best few. */
  private List<Candidate> around(Sample of, Candidate one, List<Candidate> named) {
    Sample few = few(of);
    Set<ElementType> inputs = of.inputs().contains(one.input()) ? of.inputs() : Set.of(one.input());
    List<Match> around = new ArrayList<>();
    Candidates.around(one, of, shares, inputs)
        .values()
        .forEach(
            choice -> {
              List<Match> matches = scored(few, choice);
              matches.removeIf(match -> named.contains(match.candidate));
              matches.stream().sorted(NEAREST).limit(PER_CHOICE).forEach(around::add);
            });
    return candidates(around.stream().sorted(NEAREST).limit(OTHERS));
  }

  /** Where enough rows show that sums are accurate, only norms that are near with such sums. */
  private static List<Match> accurate(List<Match> fits, long rows) {
    boolean accurate =
        rows >= ENOUGH_ROWS
            && fits.stream()
                .anyMatch(
                    fit ->
                        fit.isAccurate()
                            && !Candidate.isNarrow(fit.candidate.input())
                            && !Candidate.isNarrow(fit.candidate.output()));
    return fits.stream().filter(fit -> !accurate || fit.score.steps() <= NEAR).toList();
  }

  private CheckReport report(
      Search found, List<Match> named, List<Match> full, List<Match> rest, long rows) {
    boolean unchanged = sample.isUnchanged();
    Status status =
        unchanged || named.isEmpty()
            ? Status.UNKNOWN
            : named.size() == 1 ? Status.RECOGNISED : Status.CANNOT_TELL;
    List<Finding> findings =
        named.stream()
            .map(match -> Finding.of(match.candidate, found.sample, match.score))
            .toList();
    List<Match> others =
        named.isEmpty() ? Stream.concat(full.stream(), rest.stream()).toList() : rest;
    List<Finding> nearest =
        others.stream()
            .limit(OTHERS)
            .map(match -> Finding.of(match.candidate, found.sample, match.score))
            .toList();
    Verdict verdict =
        new Verdict(
            findings, nearest, found.lacks, others.isEmpty() ? null : others.getFirst().places);
    return new CheckReport(
        status,
        unchanged ? Verdict.UNCHANGED : verdict.sentences(),
        findings,
        nearest,
        rows,
        sample.width());
  }
}
