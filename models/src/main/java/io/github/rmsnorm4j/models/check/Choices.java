package io.github.rmsnorm4j.models.check;

import static io.github.rmsnorm4j.models.check.Types.narrow;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * One value of each choice that makes a form.
 *
 * @param input what X was rounded to before the norm saw it
 * @param output what the result was rounded to
 * @param centring whether and how the mean is subtracted
 * @param residual when the sum with the residual is rounded
 * @param offset what is added to the gain
 * @param gain what the gain with the offset is rounded to
 * @param order the cast order
 * @param bias how the bias is added
 */
record Choices(
    ElementType input,
    ElementType output,
    Centring centring,
    ResidualRounding residual,
    double offset,
    GainRounding gain,
    CastForm order,
    BiasAddition bias) {

  /** What the library does for these types. */
  static Choices of(NormSpec spec, Types types) {
    return new Choices(
        types.x(),
        types.y(),
        spec.kind() == NormSpec.Kind.LAYER_NORM ? Centring.SPLIT : Centring.NONE,
        types.roundsResidual() ? spec.residualRounding() : ResidualRounding.LAST,
        spec.gainOffset(),
        gainRounding(spec),
        CastForm.valueOf(spec.castOrder().name()),
        BiasAddition.ROUNDED);
  }

  /** With every step in the type of the row, the sum of gain and offset is such a step. */
  private static GainRounding gainRounding(NormSpec spec) {
    CastForm order = CastForm.valueOf(spec.castOrder().name());
    boolean isStep = order.root == CastForm.Root.IN_ROW_TYPE && spec.gainOffset() != 0;
    return isStep ? GainRounding.TO_ROW : GainRounding.NEVER;
  }

  /** Every combination. */
  static List<Choices> all(Types types, Set<ElementType> inputs) {
    List<Choices> all = new ArrayList<>();
    for (ElementType input : inputs) {
      for (ElementType output : types.outputs()) {
        for (Centring centring : Centring.values()) {
          for (ResidualRounding residual : ResidualRounding.values()) {
            addAll(all, input, output, centring, residual);
          }
        }
      }
    }
    return all;
  }

  private static void addAll(
      List<Choices> all,
      ElementType input,
      ElementType output,
      Centring centring,
      ResidualRounding residual) {
    for (double offset : Hypotheses.OFFSETS) {
      for (GainRounding gain : GainRounding.values()) {
        for (CastForm order : CastForm.values()) {
          for (BiasAddition bias : BiasAddition.values()) {
            all.add(new Choices(input, output, centring, residual, offset, gain, order, bias));
          }
        }
      }
    }
  }

  /** Whether there is such a norm: a shifted row is not divided by a root. */
  boolean exist() {
    return centring.compareTo(Centring.MEAN) <= 0 || order.step == CastForm.Step.MULTIPLY;
  }

  /** The form, without the choices that change nothing for these types. */
  Form form(Types types) {
    boolean hasGain = types.gain() != null;
    boolean float64 = input == ElementType.FLOAT64;
    ElementType row = narrow(input) ? input : null;
    ElementType stored = narrow(types.gain()) && !float64 ? types.gain() : null;
    ElementType cast =
        switch (order.cast) {
          case NEVER -> null;
          case TO_ROW, EVERY_STEP -> row;
          case TO_GAIN -> stored;
        };
    // Without a gain and a bias the output comes next, and is rounded anyway.
    boolean last = !hasGain && !types.bias();
    ElementType product = order.cast == CastForm.Cast.EVERY_STEP && hasGain ? row : null;
    boolean gainFirst = order.step == CastForm.Step.GAIN_FIRST;
    boolean fusible = hasGain && types.bias() && product == null && !gainFirst;
    return new Form(
        input,
        output,
        float64 && centring == Centring.SPLIT ? Centring.MEAN : centring,
        types.residualRounded() == null || float64 ? null : residual,
        hasGain ? offset : 0,
        hasGain ? gainType(row, stored) : null,
        gainFirst && !hasGain ? CastForm.Step.MULTIPLY : order.step,
        row == null ? CastForm.Root.EXACT : order.root,
        last && cast == output ? null : cast,
        product == output && !types.bias() ? null : product,
        fusible ? bias : BiasAddition.ROUNDED);
  }

  private ElementType gainType(ElementType row, ElementType stored) {
    return switch (gain) {
      case NEVER -> null;
      case TO_ROW -> offset == 0 && row == stored ? null : row;
      case TO_STORED -> offset == 0 ? null : stored;
    };
  }
}
