package io.github.rmsnorm4j.studies.train;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * What is trained. With seeds for tuning every contender's rate is chosen first, on those seeds
 * alone, and the reported trainings have seeds that the choice has not seen.
 *
 * @param kind what it is for
 * @param task what is learned
 * @param sizes how large the trainings are
 * @param contenders what is compared; the others are compared with the first
 * @param rates to choose from; without seeds for tuning the rate of each contender
 * @param tuningSeeds of the trainings that choose; may be empty
 * @param seeds of those that are reported
 */
public record Plan(
    Kind kind,
    Task task,
    Sizes sizes,
    List<Contender> contenders,
    List<Double> rates,
    List<Long> tuningSeeds,
    List<Long> seeds) {

  /** What a plan is for. */
  public enum Kind {
    /** LayerNorm and RMSNorm. */
    USUAL,
    /** {@link #USUAL} in seconds. */
    QUICK,
    /** Four norms, each at its best rate. */
    NORMS,
    /** Stacks of many depths. */
    DEPTH
  }

  /**
   * Checks that it can be done.
   *
   * @throws IllegalArgumentException if a model cannot be made so
   */
  public Plan {
    for (Contender contender : contenders) {
      sizes.config(task, contender);
    }
    requireDistinct("depths", contenders);
    if (!tuningSeeds.isEmpty()) {
      requireDistinct("rates", rates);
    }
    if (tuningSeeds.isEmpty() && rates.size() != contenders.size()) {
      throw new IllegalArgumentException(
          "there are %s rates for %s contenders".formatted(rates.size(), contenders.size()));
    }
  }

  /** What is there twice would count twice. */
  private static void requireDistinct(String what, List<?> values) {
    if (values.stream().distinct().count() < values.size()) {
      throw new IllegalArgumentException("one of the %s is given twice".formatted(what));
    }
  }

  boolean isStudy() {
    return kind == Kind.NORMS || kind == Kind.DEPTH;
  }

  boolean isDepth() {
    return kind == Kind.DEPTH;
  }

  /** Memory of the largest training, in bytes. */
  double bytes() {
    return contenders.stream().mapToDouble(c -> sizes.bytes(task, c)).max().orElseThrow();
  }

  /**
   * Checks that there is memory for it, before hours go by.
   *
   * @throws IllegalArgumentException if there is not
   */
  public void requireMemory(int jobs, long available) {
    double needed = bytes() * Math.min(jobs, trainings());
    if (needed > available) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%d trainings side by side take about %.1f GiB, there are %.1f: smaller --width, --layers, --depths or --batch, or fewer --jobs take less",
              Math.min(jobs, trainings()),
              needed / (1 << 30),
              (double) available / (1 << 30)));
    }
  }

  int trainings() {
    return contenders.size() * (rates.size() * tuningSeeds.size() + seeds.size());
  }

  /** The trainings that choose rates; those of one seed and rate side by side. */
  List<Run> tuning() {
    List<Run> runs = new ArrayList<>();
    for (long seed : tuningSeeds) {
      for (double rate : rates) {
        contenders.forEach(c -> runs.add(new Run(Stage.TUNING, c, rate, seed)));
      }
    }
    return runs;
  }

  /** The trainings that are reported; the order turns with each seed, so that none is favoured. */
  List<Run> reported(List<Outcome> tuning) {
    List<Double> chosen = contenders.stream().map(c -> rate(c, tuning)).toList();
    List<Run> runs = new ArrayList<>();
    for (long seed : seeds) {
      List<Run> round = new ArrayList<>();
      for (int i = 0; i < contenders.size(); i++) {
        round.add(new Run(Stage.REPORTED, contenders.get(i), chosen.get(i), seed));
      }
      if (seed % 2 == 0) {
        Collections.reverse(round);
      }
      runs.addAll(round);
    }
    return runs;
  }

  /** All trainings that there may be of it, whichever rates are chosen. */
  List<Run> possible() {
    List<Run> runs = new ArrayList<>(tuning());
    for (long seed : seeds) {
      for (Contender contender : contenders) {
        rates.stream()
            .distinct()
            .forEach(r -> runs.add(new Run(Stage.REPORTED, contender, r, seed)));
      }
    }
    return runs;
  }

  /** The rate of a contender: that with the smallest mean loss, the lower one of two alike. */
  double rate(Contender contender, List<Outcome> tuning) {
    if (tuningSeeds.isEmpty()) {
      return rates.get(contenders.indexOf(contender));
    }
    return rates.stream()
        .sorted()
        .min(Comparator.comparingDouble(rate -> meanLoss(contender, rate, tuning)))
        .orElseThrow();
  }

  private static double meanLoss(Contender contender, double rate, List<Outcome> tuning) {
    return tuned(contender, rate, tuning)
        .mapToDouble(Outcome::lossOrInfinity)
        .average()
        .orElse(Double.POSITIVE_INFINITY);
  }

  /** The trainings of a contender at a rate that were made to choose. */
  static Stream<Outcome> tuned(Contender contender, double rate, List<Outcome> outcomes) {
    return outcomes.stream()
        .filter(o -> o.run().stage() == Stage.TUNING)
        .filter(o -> o.run().contender().equals(contender) && o.run().rate() == rate);
  }
}
