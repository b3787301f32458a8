package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.reference.Definitions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The table of norms: every combination of the values of these lists and of the enums. */
final class Hypotheses {
  /** Epsilons of frameworks and models. */
  static final List<Double> EPSILONS =
      List.of(1e-6, 1e-5, 0x1p-23, 1e-8, 1e-12, 1e-9, 1e-3, 0x1p-52, 0.0);

  /** What is added to the gain: 1 for a gain that is stored as g - 1, 2 if it was added twice. */
  static final List<Double> OFFSETS = List.of(0.0, 1.0, 2.0);

  /** Shares of a row that partial RMSNorm takes its mean square of. */
  static final List<Double> SHARES = List.of(1.0, 0.0625, 0.125, 0.25, 0.5, 0.75);

  private Hypotheses() {}

  /** All forms for these types, each with the cast orders that give it. */
  static Map<Form, List<CastForm>> forms(Types types) {
    return forms(types, types.inputs());
  }

  /** Those that compute narrower rows in float64 and round once; none of rows of float64. */
  static Map<Form, List<CastForm>> inFloat64(Types types) {
    Map<Form, List<CastForm>> forms = new LinkedHashMap<>();
    if (types.x() != ElementType.FLOAT64) {
      forms.putAll(forms(types, Set.of(ElementType.FLOAT64)));
      forms.keySet().removeIf(Form::shifts);
    }
    return forms;
  }

  private static Map<Form, List<CastForm>> forms(Types types, Set<ElementType> inputs) {
    Map<Form, List<CastForm>> forms = new LinkedHashMap<>();
    for (Choices choices : Choices.all(types, inputs)) {
      if (choices.exist()) {
        List<CastForm> orders = forms.computeIfAbsent(choices.form(types), _ -> new ArrayList<>());
        if (!orders.contains(choices.order())) {
          orders.add(choices.order());
        }
      }
    }
    return forms;
  }

  /**
   * The statistics that are known by name.
   *
   * @param shares of a row, in addition to {@link #SHARES}
   */
  static Set<Statistic> statistics(int width, boolean layer, List<Double> shares) {
    Set<Statistic> statistics = new LinkedHashSet<>();
    for (int part : layer ? Set.of(width) : parts(width, shares)) {
      for (double epsilon : EPSILONS) {
        for (EpsilonPlacement place : EpsilonPlacement.values()) {
          EpsilonPlacement at = epsilon == 0 ? EpsilonPlacement.INSIDE : place;
          statistics.add(new Statistic(part, epsilon, at));
        }
      }
    }
    return statistics;
  }

  static Set<Integer> parts(int width, List<Double> shares) {
    List<Double> all = new ArrayList<>(SHARES);
    all.addAll(shares);
    Set<Integer> parts = new LinkedHashSet<>();
    for (double share : all) {
      parts.add(Definitions.part(width, share));
      parts.add(Math.max(1, Definitions.partOfPublishedCode(width, share)));
    }
    return parts;
  }
}
