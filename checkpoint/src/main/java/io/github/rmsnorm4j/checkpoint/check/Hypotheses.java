package io.github.rmsnorm4j.checkpoint.check;

import static io.github.rmsnorm4j.checkpoint.check.Types.narrow;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.ResidualRounding;
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

  /** What is added to the gain: 1 for a gain that is stored less 1, 2 if it was added twice. */
  static final List<Double> OFFSETS = List.of(0.0, 1.0, 2.0);

  /** Shares of a row that partial RMSNorm takes its mean square of. */
  static final List<Double> SHARES = List.of(1.0, 0.0625, 0.125, 0.25, 0.5, 0.75);

  private Hypotheses() {}

  /** All forms for these types, each with the cast orders that give it. */
  static Map<Form, List<CastForm>> forms(Types types) {
    Map<Form, List<CastForm>> forms = new LinkedHashMap<>();
    for (ElementType input : types.inputs()) {
      for (ElementType output : types.outputs()) {
        for (Centring centring : Centring.values()) {
          for (ResidualRounding residual : ResidualRounding.values()) {
            for (double offset : OFFSETS) {
              for (GainRounding gain : GainRounding.values()) {
                for (CastForm order : CastForm.values()) {
                  for (BiasAddition bias : BiasAddition.values()) {
                    add(
                        forms,
                        form(types, input, output, centring, residual, offset, gain, order, bias),
                        order);
                  }
                }
              }
            }
          }
        }
      }
    }
    return forms;
  }

  private static void add(Map<Form, List<CastForm>> forms, Form form, CastForm order) {
    List<CastForm> orders = forms.computeIfAbsent(form, _ -> new ArrayList<>());
    if (!orders.contains(order)) {
      orders.add(order);
    }
  }

  /** One combination, without the choices that change nothing for these types. */
  static Form form(
      Types types,
      ElementType input,
      ElementType output,
      Centring centring,
      ResidualRounding residual,
      double offset,
      GainRounding rounding,
      CastForm order,
      BiasAddition bias) {
    boolean hasGain = types.gain() != null;
    ElementType row = narrow(input) ? input : null;
    ElementType stored = narrow(types.gain()) && input != ElementType.FLOAT64 ? types.gain() : null;
    ElementType gain = hasGain ? gainType(rounding, offset, row, stored) : null;
    ElementType cast =
        switch (order.cast()) {
          case NEVER -> null;
          case TO_ROW, EVERY_STEP -> row;
          case TO_GAIN -> stored;
        };
    // Without a gain and a bias the output comes next, and is rounded anyway.
    boolean last = !hasGain && !types.bias();
    ElementType product = order.cast() == CastForm.Cast.EVERY_STEP && hasGain ? row : null;
    boolean layerShift = centring.compareTo(Centring.MEAN) > 0;
    boolean multiplied = layerShift || order.step() == CastForm.Step.GAIN_FIRST && !hasGain;
    CastForm.Step step = multiplied ? CastForm.Step.MULTIPLY : order.step();
    boolean fusible =
        hasGain && types.bias() && product == null && step != CastForm.Step.GAIN_FIRST;
    boolean single = input == ElementType.FLOAT64 && centring == Centring.SPLIT;
    return new Form(
        input,
        output,
        single ? Centring.MEAN : centring,
        types.residualRounded() == null || input == ElementType.FLOAT64 ? null : residual,
        hasGain ? offset : 0,
        gain,
        step,
        row == null ? CastForm.Root.EXACT : order.root(),
        last && cast == output ? null : cast,
        product == output && !types.bias() ? null : product,
        fusible ? bias : BiasAddition.ROUNDED);
  }

  private static ElementType gainType(
      GainRounding rounding, double offset, ElementType row, ElementType stored) {
    return switch (rounding) {
      case NEVER -> null;
      case TO_ROW -> offset == 0 && row == stored ? null : row;
      case TO_STORED -> offset == 0 ? null : stored;
    };
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
