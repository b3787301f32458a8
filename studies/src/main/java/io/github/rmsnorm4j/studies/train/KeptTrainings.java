package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.measure.MarkedFigures;
import io.github.rmsnorm4j.measure.Samples;
import io.github.rmsnorm4j.models.rows.RowStatistics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * Figures from docs/training. {@code training/norms} is docs/training/norms.json; the rules are:
 *
 * <ul>
 *   <li>{@code NAME - NAME; loss; mean}: the paired difference of two rows, also {@code low} and
 *       {@code high}, the ends of its interval; {@code steps} instead of {@code loss} for the steps
 *       until the task was learned, {@code milliseconds} for the time of a step. Of {@code loss}
 *       also the {@code median}, and the differences of the {@code largest} and of the {@code
 *       second} magnitude.
 *   <li>{@code NAME; gradient; lowest} and {@code highest}: the ratio of the gradients at both ends
 *       of a stack in the first step, of all seeds.
 *   <li>{@code NAME; loss} and {@code NAME; milliseconds}: of a row. {@code NAME; accuracy}, {@code
 *       NAME; share of norms} and {@code NAME; rho}, the largest in the last step: in percent.
 *       {@code NAME; gap}: how far LayerNorm and RMSNorm of a row with this rho are apart, in
 *       percent. {@code NAME; milliseconds; lowest} and {@code highest}: of all seeds.
 * </ul>
 */
public final class KeptTrainings implements MarkedFigures.Source {
  private static final String PREFIX = "training/";

  private final Path docs;

  /** Files that were read: several figures come from each. */
  private final Map<String, Results> read = new HashMap<>();

  /** The results in a checkout's folder docs. */
  public KeptTrainings(Path docs) {
    this.docs = docs;
  }

  @Override
  public OptionalDouble figure(String results, String rule) throws IOException {
    if (!results.startsWith(PREFIX)) {
      return OptionalDouble.empty();
    }
    Results kept = read(results);
    String[] parts = rule.split("; ");
    String[] names = parts[0].split(" - ");
    return OptionalDouble.of(
        names.length == 2
            ? difference(kept, pair(kept, names[0], names[1]), parts)
            : value(kept, row(kept, names[0]), parts));
  }

  private Results read(String name) throws IOException {
    Results results = read.get(name);
    if (results == null) {
      results = Results.parse(Files.readString(docs.resolve(name + ".json")));
      read.put(name, results);
    }
    return results;
  }

  private static Pair pair(Results results, String one, String other) {
    return results.pairs().stream()
        .filter(p -> p.one().name().equals(one) && p.other().name().equals(other))
        .findFirst()
        .orElseThrow(KeptTrainings::unknown);
  }

  private static Row row(Results results, String name) {
    return results.rows().stream()
        .filter(r -> r.name().equals(name))
        .findFirst()
        .orElseThrow(KeptTrainings::unknown);
  }

  private static double difference(Results results, Pair pair, String... rule) {
    Interval interval =
        switch (part(rule, 1)) {
          case "loss" -> pair.loss();
          case "steps" -> pair.learnedAt();
          case "milliseconds" -> pair.stepMillis();
          default -> throw unknown();
        };
    return switch (part(rule, 2)) {
      case "mean" -> interval.mean();
      case "low" -> interval.low();
      case "high" -> interval.high();
      case "median", "largest", "second" -> ofLosses(results, pair, rule);
      default -> throw unknown();
    };
  }

  private static double ofLosses(Results results, Pair pair, String... rule) {
    double[] all =
        Pair.differences(
            results.reported(pair.one().contender()),
            results.reported(pair.other().contender()),
            Outcome::loss);
    if (!rule[1].equals("loss") || all.length < 2) {
      throw unknown();
    }
    List<Double> losses = Arrays.stream(all).boxed().toList();
    if (rule[2].equals("median")) {
      return Samples.median(losses);
    }
    return losses.stream()
        .sorted(Comparator.comparingDouble(loss -> -Math.abs(loss)))
        .skip(rule[2].equals("largest") ? 0 : 1)
        .findFirst()
        .orElseThrow();
  }

  private static double value(Results results, Row row, String... rule) {
    return switch (part(rule, 1)) {
      case "loss" -> row.loss().mean();
      case "accuracy" -> 100 * row.accuracy();
      case "share of norms" -> 100 * row.shares().norm();
      case "milliseconds" ->
          rule.length == 2 ? row.stepMillis().mean() : milliseconds(results, row, rule[2]);
      case "rho" -> 100 * rho(results, row);
      case "gap" -> 100 * RowStatistics.gap(rho(results, row));
      case "gradient" -> gradient(results, row, part(rule, 2));
      default -> throw unknown();
    };
  }

  private static double rho(Results results, Row row) {
    return results.reported(row.contender()).stream()
        .flatMap(outcome -> outcome.after().stream())
        .mapToDouble(Layer::rho)
        .max()
        .orElseThrow(KeptTrainings::unknown);
  }

  private static double milliseconds(Results results, Row row, String which) {
    DoubleSummaryStatistics steps =
        results.reported(row.contender()).stream()
            .mapToDouble(Outcome::stepMillis)
            .summaryStatistics();
    return switch (which) {
      case "lowest" -> steps.getMin();
      case "highest" -> steps.getMax();
      default -> throw unknown();
    };
  }

  private static double gradient(Results results, Row row, String which) {
    List<Double> ratios = results.gradientRatios(row.contender());
    if (ratios.isEmpty()) {
      throw unknown();
    }
    return switch (which) {
      case "lowest" -> ratios.getFirst();
      case "highest" -> ratios.getLast();
      default -> throw unknown();
    };
  }

  private static String part(String[] rule, int index) {
    return index < rule.length ? rule[index] : "";
  }

  private static IllegalArgumentException unknown() {
    return new IllegalArgumentException("the results have no such figure");
  }
}
