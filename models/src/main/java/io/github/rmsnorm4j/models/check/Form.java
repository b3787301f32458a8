package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.Locale;

/**
 * Everything about a norm except its statistic: how elements follow from a row, its mean and its
 * rstd. Choices that change nothing for the types at hand are left out, so two forms that are not
 * equal are two formulas.
 *
 * @param input the type T of the row, which decides the arithmetic
 * @param output the type of Y
 * @param centring RMSNorm, or how LayerNorm subtracts the mean
 * @param residual when the sum with the residual is rounded; null if it is not, or there is none
 * @param offset what is added to the gain
 * @param gain what the gain with the offset is rounded to, or null
 * @param step how the row meets its rstd
 * @param root what rstd is rounded to
 * @param cast what the normalised row is rounded to, or null
 * @param product what the product with the gain is rounded to, or null
 * @param bias how the bias is added
 */
record Form(
    ElementType input,
    ElementType output,
    Centring centring,
    ResidualRounding residual,
    double offset,
    ElementType gain,
    CastForm.Step step,
    CastForm.Root root,
    ElementType cast,
    ElementType product,
    BiasAddition bias) {

  boolean float64() {
    return input == ElementType.FLOAT64;
  }

  boolean layer() {
    return centring != Centring.NONE;
  }

  /** Whether the mean is subtracted after the product with rstd. */
  boolean shifts() {
    return centring.compareTo(Centring.MEAN) > 0;
  }

  boolean divides() {
    return step == CastForm.Step.DIVIDE;
  }

  /** The type in which elements are computed. */
  ElementType arithmetic() {
    return float64() ? ElementType.FLOAT64 : ElementType.FLOAT32;
  }

  /** What rstd is rounded to, or null. */
  ElementType rootType() {
    return root == CastForm.Root.EXACT ? null : input;
  }

  /** How many choices are not the usual ones: the simpler of two names comes first. */
  int unusual() {
    return (offset == 2 ? 2 : 0)
        + (gain == null ? 0 : 1)
        + (bias == BiasAddition.FUSED ? 1 : 0)
        + (root == CastForm.Root.EXACT ? 0 : 1)
        + (shifts() ? 1 : 0);
  }

  /** What is said of the form apart from its kind and cast orders, for example "gain + 1". */
  String words(Types types) {
    StringBuilder words = new StringBuilder();
    if (offset != 0) {
      words.append(String.format(Locale.ROOT, ", gain + %.0f", offset));
    }
    if (gain != null) {
      words.append(offset == 0 ? ", gain" : "").append(" in ").append(gain.shortName());
    }
    if (residual != null) {
      words.append(", residual ").append(residual.name().toLowerCase(Locale.ROOT));
    }
    if (bias == BiasAddition.FUSED) {
      words.append(", bias fused");
    }
    if (input.bytes() > types.x().bytes()) {
      words.append(", computed in f64");
    } else if (input != types.x()) {
      words.append(", X as ").append(input.shortName());
    }
    if (output != types.y()) {
      words.append(", Y as ").append(output.shortName());
    }
    return words.toString();
  }
}
