package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.EpsilonPlacement;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Norms that do not fit, measured: how far each is from Y. */
final class Contrasts {
  private static final int SHOWN = 8;
  private static final int PER_CHOICE = 2;

  private static final Comparator<Finding> NEAREST =
      Comparator.comparingLong(Finding::equal).reversed().thenComparingDouble(Finding::largestUlp);

  private final Sample sample;
  private final Types types;
  private final Map<Form, List<CastForm>> forms;
  private final Recovered.Rows rows;
  private final long window;
  private final List<Double> shares;

  Contrasts(
      Sample sample,
      Map<Form, List<CastForm>> forms,
      Recovered.Rows rows,
      long window,
      List<Double> shares) {
    this.sample = sample;
    this.types = sample.types();
    this.forms = forms;
    this.rows = rows;
    this.window = window;
    this.shares = shares;
  }

  /** One choice of a form. */
  private enum Choice {
    ORDER,
    GAIN,
    CENTRING,
    RESIDUAL,
    INPUT,
    OUTPUT,
    BIAS;

    boolean same(Hypothesis a, Hypothesis b) {
      return switch (this) {
        case ORDER -> !Collections.disjoint(a.orders(), b.orders());
        case GAIN -> a.form().offset() == b.form().offset() && a.form().gain() == b.form().gain();
        case CENTRING -> a.form().centring() == b.form().centring();
        case RESIDUAL -> a.form().residual() == b.form().residual();
        case INPUT -> a.form().input() == b.form().input();
        case OUTPUT -> a.form().output() == b.form().output();
        case BIAS -> a.form().bias() == b.form().bias();
      };
    }
  }

  /** Norms that differ from one in one choice: of each choice the best few that are not named. */
  List<Finding> around(Hypothesis norm, List<Hypothesis> named) {
    Set<List<Object>> known = new HashSet<>();
    named.forEach(each -> known.add(List.of(each.form(), each.statistic())));
    Statistic statistic = norm.statistic();
    Stream<Stream<Hypothesis>> ofForms =
        Stream.of(Choice.values()).map(choice -> others(norm, choice));
    Stream<Stream<Hypothesis>> ofStatistics =
        Stream.of(epsilons(statistic), places(statistic), parts(norm), population(statistic))
            .map(statistics -> statistics.map(norm::with));
    return Stream.concat(ofForms, ofStatistics)
        .flatMap(
            choice ->
                best(
                    choice.filter(each -> !known.contains(List.of(each.form(), each.statistic()))),
                    PER_CHOICE))
        .sorted(NEAREST)
        .limit(SHOWN)
        .toList();
  }

  /** Forms that differ from one in this choice alone. */
  private Stream<Hypothesis> others(Hypothesis norm, Choice choice) {
    boolean partial = norm.statistic().part() < sample.width();
    return forms.entrySet().stream()
        .map(entry -> new Hypothesis(entry.getKey(), entry.getValue(), norm.statistic()))
        .filter(
            each -> Stream.of(Choice.values()).allMatch(c -> c.same(each, norm) == (c != choice)))
        .filter(each -> !(partial && each.form().layer()))
        .filter(each -> usualRoot(each, norm));
  }

  /** Rounded roots come near many norms, and few systems have them. */
  private static boolean usualRoot(Hypothesis each, Hypothesis norm) {
    CastForm.Root root = each.form().root();
    return root == CastForm.Root.EXACT || root == norm.form().root();
  }

  private static Stream<Statistic> epsilons(Statistic usual) {
    return Hypotheses.EPSILONS.stream()
        .map(e -> usual.with(e, e == 0 ? EpsilonPlacement.INSIDE : usual.place()))
        .filter(each -> !each.equals(usual));
  }

  private static Stream<Statistic> places(Statistic usual) {
    return Stream.of(EpsilonPlacement.values())
        .filter(place -> usual.epsilon() > 0 && place != usual.place())
        .map(place -> usual.with(usual.epsilon(), place));
  }

  private Stream<Statistic> parts(Hypothesis norm) {
    Statistic usual = norm.statistic();
    return Hypotheses.parts(sample.width(), shares).stream()
        .filter(part -> !norm.form().layer() && part != usual.part())
        .map(part -> new Statistic(part, usual.epsilon(), usual.place()));
  }

  /** Of a norm with sample variance the one that divides by the width. */
  private static Stream<Statistic> population(Statistic usual) {
    return Stream.of(usual)
        .filter(Statistic::sample)
        .map(each -> new Statistic(each.part(), each.epsilon(), each.place()));
  }

  /**
   * Where nothing fits: the forms that can make all rows, or else those with the nearest formula.
   */
  List<Finding> closest(List<Recovered> recovered) {
    Statistic usual =
        new Statistic(sample.width(), Hypotheses.EPSILONS.getFirst(), EpsilonPlacement.INSIDE);
    if (!recovered.isEmpty()) {
      Stream<Hypothesis> shapes =
          recovered.stream().limit(SHOWN).map(r -> new Hypothesis(r.form(), r.orders(), usual));
      return best(shapes.flatMap(this::withEpsilons), SHOWN).toList();
    }
    Hypothesis nearest =
        forms.entrySet().stream()
            .filter(entry -> entry.getValue().contains(CastForm.FLOAT32))
            .filter(entry -> entry.getKey().gain() == null)
            .filter(entry -> entry.getKey().centring().compareTo(Centring.MEAN) <= 0)
            .map(entry -> new Hypothesis(entry.getKey(), entry.getValue(), usual))
            .flatMap(this::withEpsilons)
            .min(Comparator.comparingDouble(this::misfit))
            .orElseThrow();
    Stream<Hypothesis> near = Stream.concat(others(nearest, Choice.ORDER), Stream.of(nearest));
    return best(near, SHOWN).toList();
  }

  private Stream<Hypothesis> withEpsilons(Hypothesis norm) {
    return Stream.concat(Stream.of(norm), epsilons(norm.statistic()).map(norm::with));
  }

  /** How much of Y the exact formula misses, in the first rows. */
  private double misfit(Hypothesis norm) {
    Parameters parameters = Parameters.of(norm.form(), sample);
    double missed = 0;
    for (int row = 0; row < Math.min(sample.rows(), SHOWN); row++) {
      Elements elements = new Elements(norm.form(), rows.row(norm.form(), row), parameters);
      double root = norm.statistic().root(elements.moment(norm.statistic().part()));
      double[] y = sample.y(row);
      for (int i = 0; i < y.length; i++) {
        double difference = y[i] - elements.exact(i, root);
        missed += difference * difference;
      }
    }
    return missed;
  }

  private Stream<Finding> best(Stream<Hypothesis> norms, int count) {
    return norms
        .map(norm -> Finding.of(norm, types, sample.width(), Score.of(norm, sample, rows, window)))
        .sorted(NEAREST)
        .limit(count);
  }
}
