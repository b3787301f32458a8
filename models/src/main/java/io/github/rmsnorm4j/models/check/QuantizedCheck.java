package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.Quantizer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Tells which norm and which rule made quantised rows Y from rows X.
 *
 * <p>Each norm of the table that this library has is applied, and its output is quantised by each
 * rule. A few rows exclude most of the norms, and all rows are compared with what the others make.
 */
public final class QuantizedCheck {
  /** So many elements are compared first, unless one row has more. */
  private static final int FIRST = 1 << 12;

  /** So many norms are compared with all rows, and those that are as near as the nearest. */
  private static final int KEPT = 64;

  private static final int OTHERS = 8;

  private static final Comparator<Match> NEAREST =
      Comparator.<Match>comparingDouble(match -> -match.score().shares())
          .thenComparingInt(match -> match.score().largestStep());

  /** Rules of engines that have no preset. */
  private static final Map<String, Quantizer> OTHER_RULES =
      Map.of("llama.cpp on ARM", Quantizer.ggmlReference().withRounding(CodeRounding.EVEN));

  /** What a finding says of a norm that makes every byte: elements are not compared. */
  private static final Score FULL = Score.full(0, new long[0]);

  private final QuantizedSample sample;
  private final Types types;
  private final Map<String, Quantizer> presets;
  private final Map<String, Quantizer> rules;
  private final Map<Hypothesis, NormSpec> norms = new LinkedHashMap<>();

  /**
   * Begins a check.
   *
   * @param sample the rows
   * @param shares shares of a row that a partial norm may be of, in addition to the usual ones
   * @param presets rules that are tried, by the names that {@code normalize --quantizer} takes
   * @throws IllegalArgumentException if the rows cannot tell anything
   */
  public QuantizedCheck(
      QuantizedSample sample, List<Double> shares, Map<String, Quantizer> presets) {
    sample.requireCodes();
    this.sample = sample;
    this.presets = presets;
    this.types = sample.types();
    this.rules = new LinkedHashMap<>(presets);
    rules.putAll(OTHER_RULES);
    Hypotheses.forms(types)
        .forEach(
            (form, orders) ->
                Hypotheses.statistics(sample.width(), form.layer(), shares).stream()
                    .map(statistic -> new Hypothesis(form, orders, statistic))
                    .sorted(Comparator.comparing(norm -> norm.statistic().place()))
                    .forEach(
                        norm ->
                            norm.spec(types, sample.width())
                                .ifPresent(spec -> norms.put(norm, spec))));
  }

  /** What a norm makes by some rules that make the same number of bytes. */
  private record Match(Hypothesis norm, CodeScore score, List<String> rules) {}

  /** {@return how many norms there are to try} */
  public int norms() {
    return norms.size();
  }

  /**
   * Checks.
   *
   * @param afterEachNorm is run {@link #norms} times
   * @return which norms and rules made Y
   */
  public QuantizedReport run(Runnable afterEachNorm) {
    QuantizedSample few = sample.first(Math.max(1, FIRST / sample.width()));
    List<Match> first = matches(few, norms.keySet().stream().peek(_ -> afterEachNorm.run()));
    double best = first.getFirst().score().shares();
    Set<Hypothesis> kept = new LinkedHashSet<>();
    for (Match match : first) {
      if (kept.size() < KEPT || match.score().shares() == best) {
        kept.add(match.norm());
      }
    }
    List<Match> all = matches(sample, kept.stream());
    List<Match> exact = all.stream().filter(match -> match.score().exact()).toList();
    List<Match> others = exact.isEmpty() ? all : around(exact.getFirst(), all);
    return report(exact, others.stream().limit(OTHERS).toList());
  }

  /** The nearest first. */
  private List<Match> matches(QuantizedSample rows, Stream<Hypothesis> of) {
    List<Match> matches = new ArrayList<>();
    of.forEach(
        norm -> {
          Map<CodeScore, List<String>> byScore = new LinkedHashMap<>();
          rows.scores(norms.get(norm), rules)
              .forEach(
                  (rule, score) ->
                      byScore.computeIfAbsent(score, _ -> new ArrayList<>()).add(rule));
          byScore.forEach((score, names) -> matches.add(new Match(norm, score, names)));
        });
    matches.sort(NEAREST);
    return matches;
  }

  /** The nearest that are not exact; other rules of the same norm come first. */
  private static List<Match> around(Match named, List<Match> all) {
    return all.stream()
        .filter(match -> !match.score().exact())
        .sorted(Comparator.comparing(match -> !match.norm().equals(named.norm())))
        .toList();
  }

  private QuantizedReport report(List<Match> exact, List<Match> others) {
    List<QuantizedFinding> named = exact.stream().map(this::finding).toList();
    List<QuantizedFinding> rest = others.stream().map(this::finding).toList();
    Differences differences =
        new Differences(
            exact.stream()
                .map(match -> Finding.of(match.norm(), types, sample.width(), FULL))
                .toList());
    String type = sample.y().type().toString();
    return new QuantizedReport(
        status(named.size()),
        sentences(
            new QuantizedVerdict(type, named, rest, differences, presets.keySet(), sample.given())),
        type,
        named,
        rest,
        sample.y().rows(),
        sample.width());
  }

  /** What of Y stands out whatever made it comes last. */
  private List<String> sentences(QuantizedVerdict verdict) {
    List<String> sentences = new ArrayList<>(verdict.sentences());
    new QuantizedScales(sample.y()).nan().ifPresent(sentences::add);
    return sentences;
  }

  /** All rules that make every byte are in one finding of their norm. */
  private static CheckReport.Status status(int named) {
    return switch (named) {
      case 0 -> CheckReport.Status.UNKNOWN;
      case 1 -> CheckReport.Status.RECOGNISED;
      default -> CheckReport.Status.CANNOT_TELL;
    };
  }

  private QuantizedFinding finding(Match match) {
    CodeScore score = match.score();
    return new QuantizedFinding(
        match.norm().words(types, sample.width()),
        norms.get(match.norm()).toString(),
        match.rules(),
        score.equalCodes(),
        score.codes(),
        score.equalScales(),
        score.scales(),
        score.largestStep());
  }
}
