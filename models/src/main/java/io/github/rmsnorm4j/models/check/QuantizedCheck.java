package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.models.check.CheckReport.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Tells which norm and which rule made quantised rows Y from rows X. Each norm is applied, and its
 * output is quantised by each rule. A few rows exclude most of the norms, and all rows are compared
 * with what the others make.
 */
public final class QuantizedCheck {
  /** So many norms are compared with all rows, and those that are as near as the nearest. */
  private static final int KEPT = 64;

  private static final int OTHERS = 8;

  /** Rules of engines that have no preset. */
  private static final Map<String, Quantizer> OTHER_RULES =
      Map.of("llama.cpp on ARM", Quantizer.ggmlReference().withRounding(CodeRounding.EVEN));

  private final Sample sample;
  private final List<Double> shares;
  private final Map<String, Quantizer> presets;
  private final Map<String, Quantizer> rules;

  /**
   * Begins a check.
   *
   * @param sample the rows from which norms are found
   * @param shares shares of a row that a partial norm may be of, in addition to the usual ones
   * @param presets rules that are tried, by the names that {@code normalize --quantizer} takes
   * @throws IllegalArgumentException if the rows cannot tell anything
   */
  public QuantizedCheck(Sample sample, List<Double> shares, Map<String, Quantizer> presets) {
    sample.requireTelling();
    this.sample = sample;
    this.shares = shares;
    this.presets = presets;
    rules = new LinkedHashMap<>(presets);
    rules.putAll(OTHER_RULES);
  }

  /** What a norm makes by some rules that make the same number of bytes. */
  private record Match(Candidate norm, CodeScore score, List<String> rules) {}

  /**
   * Checks.
   *
   * @param parts all rows that the found norms are compared with; one part is in memory at a time
   * @return which norms and rules made Y
   */
  public QuantizedReport run(Iterable<Sample> parts) {
    Sample few = Search.few(sample);
    List<Candidate> norms =
        Candidates.of(
                sample,
                new Shapes(few, shares).near().stream().map(Shapes.Shape::spec),
                true,
                Set.of(sample.x.type()))
            .stream()
            .filter(Candidate::isOfLibrary)
            .toList();
    List<Match> first = matches(norms, List.of(few));
    double best = first.getFirst().score.shares();
    List<Candidate> kept =
        IntStream.range(0, first.size())
            .filter(i -> i < KEPT || first.get(i).score.shares() == best)
            .mapToObj(i -> first.get(i).norm)
            .distinct()
            .toList();
    List<Match> all = matches(kept, parts);
    List<Match> exact = all.stream().filter(match -> match.score.exact()).toList();
    Stream<Match> rest = all.stream().filter(match -> !match.score.exact());
    // Other rules of the same norm come first.
    List<Match> others =
        exact.isEmpty()
            ? all
            : rest.sorted(Comparator.comparing(m -> !m.norm.equals(exact.getFirst().norm)))
                .toList();
    return report(exact, others.stream().limit(OTHERS).toList());
  }

  /** The nearest first. */
  private List<Match> matches(Collection<Candidate> norms, Iterable<Sample> parts) {
    Map<Candidate, Map<String, CodeScore>> scores = new LinkedHashMap<>();
    for (Sample part : parts) {
      for (Candidate norm : norms) {
        Map<String, CodeScore> ofNorm = scores.computeIfAbsent(norm, _ -> new LinkedHashMap<>());
        scores(norm, part).forEach((rule, score) -> ofNorm.merge(rule, score, CodeScore::plus));
      }
    }
    List<Match> matches = new ArrayList<>();
    scores.forEach(
        (norm, ofNorm) -> {
          Map<CodeScore, List<String>> byScore = new LinkedHashMap<>();
          ofNorm.forEach(
              (rule, score) -> byScore.computeIfAbsent(score, _ -> new ArrayList<>()).add(rule));
          byScore.forEach((score, names) -> matches.add(new Match(norm, score, names)));
        });
    matches.sort(
        Comparator.<Match>comparingDouble(match -> -match.score.shares())
            .thenComparingInt(match -> match.score.largestStep())
            .thenComparing(match -> match.norm.place()));
    return matches;
  }

  /** What a norm and each of the rules make, compared with Y. */
  private Map<String, CodeScore> scores(Candidate candidate, Sample of) {
    Norm norm = candidate.norm(of);
    Rows exact = candidate.applied(norm, of, ElementType.FLOAT32);
    boolean narrow = Candidate.isNarrow(of.x.type());
    Rows rounded = narrow ? candidate.applied(norm, of, of.x.type()) : exact;
    QuantizedRows made = of.emptyCodes();
    Map<String, CodeScore> scores = new LinkedHashMap<>();
    rules.forEach(
        (name, rule) -> {
          rule.quantize(rule.roundsOutput() ? rounded : exact, made, 1);
          scores.put(name, CodeScore.of(made, of.codes));
        });
    return scores;
  }

  private QuantizedReport report(List<Match> exact, List<Match> others) {
    List<QuantizedFinding> named = exact.stream().map(this::finding).toList();
    List<QuantizedFinding> rest = others.stream().map(this::finding).toList();
    Differences differences =
        new Differences(exact.stream().map(m -> Finding.of(m.norm, sample, Score.NONE)).toList());
    String type = sample.codes.type().toString();
    QuantizedVerdict verdict =
        new QuantizedVerdict(type, named, rest, differences, presets.keySet(), sample.given());
    List<String> sentences = new ArrayList<>(verdict.sentences());
    nanScales().ifPresent(sentences::add);
    QuantizedFinding any = named.isEmpty() ? rest.getFirst() : named.getFirst();
    return new QuantizedReport(
        Status.of(named.size()),
        sentences,
        type,
        named,
        rest,
        any.codes() / sample.width(),
        sample.width());
  }

  /** How many scales are NaN and in which row the first is, in a sentence. */
  private Optional<String> nanScales() {
    int block = sample.codes.type().block(sample.width());
    double[] values = Sample.elements(sample.y).toArray();
    int[] blocks =
        IntStream.range(0, values.length / block)
            .filter(
                b ->
                    IntStream.range(b * block, (b + 1) * block)
                        .allMatch(i -> values[i] != values[i]))
            .toArray();
    return blocks.length == 0
        ? Optional.empty()
        : Optional.of(
            String.format(
                Locale.ROOT,
                "%,d of %,d scales that were compared %s NaN in Y, the first in row %,d (counted from 0).",
                blocks.length,
                values.length / block,
                blocks.length == 1 ? "is" : "are",
                sample.numbers[(int) ((long) blocks[0] * block / sample.width())]));
  }

  private QuantizedFinding finding(Match match) {
    CodeScore score = match.score;
    return new QuantizedFinding(
        match.norm.words(sample),
        match.norm.text(sample),
        match.rules,
        score.equalCodes(),
        score.codes(),
        score.equalScales(),
        score.scales(),
        score.largestStep());
  }
}
