package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The norms that make most of a sample: a few rows exclude most norms, and the others are applied
 * to all rows.
 *
 * @param sample the rows, with the parameters that the norms were given
 * @param lacks the parameters that they were not given, as options, or empty
 * @param matches the norms by how much of Y they make; likelier ones first
 * @param fewShare how much of a few rows the nearest makes, from 0 to 1
 */
record Search(Sample sample, String lacks, List<Match> matches, double fewShare) {
  /** So many elements are compared first, in at least {@link #FEW_ROWS} rows. */
  private static final int FEW_ELEMENTS = 1 << 9;

  private static final int FEW_ROWS = 5;
  private static final int MOST_FEW_ROWS = 16;

  /** So many norms are compared with all rows, and those that are as near as the nearest. */
  private static final int KEPT = 24;

  /** Where less than one in so many is equal, few rows are enough. */
  private static final int LEAST = 4;

  static final int OTHERS = 8;
  private static final int PER_CHOICE = 2;

  /** The ulp of rstd that sums in float64, and most in lanes, need. */
  static final long ACCURATE = 2;

  static final Comparator<Match> NEAREST =
      Comparator.<Match>comparingLong(match -> -match.score.equal())
          .thenComparing(match -> !match.norm.listed());

  private static final Comparator<Match> LIKELIEST =
      NEAREST
          .thenComparing(match -> match.score.own() < match.score.elements())
          .thenComparingLong(match -> match.isAccurate() ? 0 : match.score.steps())
          .thenComparingInt(match -> match.norm.unusual())
          .thenComparing(match -> match.norm.place());

  /** A norm and how much of Y it makes. */
  record Match(Candidate norm, Score score) {
    boolean isFull() {
      return score.isFull();
    }

    boolean isAccurate() {
      return score.steps() <= ACCURATE;
    }
  }

  /** Tries the types at hand, then float64, and then to leave out what was given. */
  static Search of(Sample sample, List<Double> shares) {
    List<Search> searches = new ArrayList<>();
    Shapes shapes = Shapes.of(sample, shares);
    Search first = of(sample, "", sample.inputs(), shapes, 0);
    searches.add(first);
    boolean widens = sample.x.type() != ElementType.FLOAT64;
    if (!first.isFull() && widens) {
      searches.add(of(sample, "", Set.of(ElementType.FLOAT64), shapes, first.fewShare));
    }
    if (searches.stream().noneMatch(Search::isFull)) {
      without(sample)
          .forEach(
              (lacks, less) ->
                  searches.add(
                      of(less, lacks, less.inputs(), Shapes.of(less, shares), first.fewShare)));
    }
    return searches.stream()
        .min(Comparator.comparing(search -> search.matches.getFirst(), NEAREST))
        .orElseThrow();
  }

  private static Map<String, Sample> without(Sample sample) {
    Map<String, Sample> less = new LinkedHashMap<>();
    if (sample.gain != null) {
      less.put("--gain", sample.without(true, false));
    }
    if (sample.bias != null) {
      less.put("--bias", sample.without(false, true));
    }
    if (less.size() > 1) {
      less.put("--gain and --bias", sample.without(true, true));
    }
    return less;
  }

  /** Norms that make less of the few rows than others do are not compared with all rows. */
  private static Search of(
      Sample sample, String lacks, Set<ElementType> inputs, Shapes shapes, double least) {
    Sample few = shapes.sample();
    List<Match> nearest = scored(sample, few, shapes.near(), inputs);
    List<Match> matches = matches(sample, nearest, least);
    boolean certain =
        matches.stream()
            .filter(match -> match.isFull() && match.isAccurate())
            .anyMatch(match -> match.norm.place() == EpsilonPlacement.INSIDE);
    if (!certain && !shapes.solved().isEmpty()) {
      List<Match> solved = matches(sample, scored(sample, few, shapes.solved(), inputs), least);
      matches.addAll(unlisted(sample, matches, solved));
    }
    matches.sort(LIKELIEST);
    return new Search(sample, lacks, matches, nearest.getFirst().score.share());
  }

  private boolean isFull() {
    return matches.getFirst().isFull();
  }

  /** The norms that make all. */
  List<Match> fits() {
    return matches.stream().filter(Match::isFull).toList();
  }

  /** Rows from which norms are excluded. */
  static Sample few(Sample of) {
    return of.few(Math.clamp(FEW_ELEMENTS / of.width(), FEW_ROWS, MOST_FEW_ROWS));
  }

  /** The nearest to a few rows first. */
  private static List<Match> scored(
      Sample of, Sample few, List<Shapes.Shape> shapes, Set<ElementType> inputs) {
    boolean listed = shapes.getFirst().listed();
    List<Match> first =
        scored(few, Candidates.of(of, shapes.stream().map(Shapes.Shape::spec), listed, inputs));
    first.sort(NEAREST);
    return first;
  }

  /** The nearest to a few rows, compared with all. */
  private static List<Match> matches(Sample of, List<Match> first, double least) {
    Score best = first.getFirst().score;
    boolean nearer = best.share() > least || best.isFull();
    if (!nearer || LEAST * best.equal() < best.elements()) {
      return first;
    }
    List<Candidate> kept = new ArrayList<>();
    for (Match match : first) {
      if (match.score.equal() == best.equal() || kept.size() < KEPT && !best.isFull()) {
        kept.add(match.norm);
      }
    }
    return scored(of, kept);
  }

  private static List<Match> scored(Sample of, Collection<Candidate> norms) {
    List<Match> matches = new ArrayList<>();
    norms.forEach(norm -> matches.add(new Match(norm, Fit.of(norm, of).score())));
    return matches;
  }

  /**
   * Solved norms that fit as well as listed ones, or where none fits all: of those that differ in
   * their epsilon alone the one with fewest digits, and none where a listed one fits.
   */
  private static List<Match> unlisted(Sample of, List<Match> listed, List<Match> solved) {
    Map<List<Object>, Match> best = new LinkedHashMap<>();
    long most = Long.MAX_VALUE;
    for (Match match : listed) {
      if (match.isFull()) {
        most = Math.min(most, Math.max(ACCURATE, match.score.steps()));
        best.put(match.norm.formula(of, false), match);
      }
    }
    boolean any = best.isEmpty();
    solved.sort(NEAREST.thenComparingInt(match -> match.norm.digits()));
    for (Match match : solved) {
      if (any || match.isFull() && match.score.steps() <= most) {
        best.putIfAbsent(match.norm.formula(of, false), match);
      }
    }
    return best.values().stream().filter(match -> !match.norm.listed()).toList();
  }

  /** Other norms for comparison: that differ in one choice, of each choice the best few. */
  List<Candidate> others(List<Double> shares) {
    if (!isFull()) {
      return matches.stream().limit(OTHERS).map(Match::norm).toList();
    }
    Sample few = few(sample);
    Candidate one = matches.getFirst().norm;
    Set<ElementType> inputs =
        sample.inputs().contains(one.input()) ? sample.inputs() : Set.of(one.input());
    List<Candidate> named = fits().stream().map(Match::norm).toList();
    List<Match> around = new ArrayList<>();
    for (List<Candidate> choice : Candidates.around(one, sample, shares, inputs)) {
      List<Match> matches = scored(few, choice);
      matches.removeIf(match -> named.contains(match.norm));
      matches.stream().sorted(NEAREST).limit(PER_CHOICE).forEach(around::add);
    }
    return around.stream().sorted(NEAREST).limit(OTHERS).map(Match::norm).toList();
  }
}
