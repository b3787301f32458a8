package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The types of the numbers at hand.
 *
 * @param x the type in which X is stored
 * @param xHeld narrower types that hold every number of X, if X is stored in a wider type
 * @param y the type in which Y is stored
 * @param yHeld narrower types that hold every number of Y, if Y is stored in a wider type
 * @param gain the type of the gain, or null without one
 * @param bias whether there is a bias
 * @param residual the type in which the residual is stored, or null without one
 * @param residualHeld narrower types that hold every number of the residual, if it is stored in a
 *     wider type
 */
public record Types(
    ElementType x,
    List<ElementType> xHeld,
    ElementType y,
    List<ElementType> yHeld,
    ElementType gain,
    boolean bias,
    ElementType residual,
    List<ElementType> residualHeld) {

  static boolean narrow(ElementType type) {
    return type != null && type.bytes() == 2;
  }

  /** What the rows may have been when the norm saw them: as stored, or rounded first. */
  Set<ElementType> inputs() {
    Set<ElementType> inputs = new LinkedHashSet<>(List.of(x));
    for (ElementType output : outputs()) {
      if (output.bytes() < x.bytes()) {
        inputs.add(output);
      }
    }
    inputs.addAll(xHeld);
    return inputs;
  }

  /** What the output may have been rounded to. */
  Set<ElementType> outputs() {
    Set<ElementType> outputs = new LinkedHashSet<>(List.of(y));
    outputs.addAll(yHeld);
    return outputs;
  }

  /** The narrowest type that holds the residual, or null without one. */
  ElementType residualNarrowest() {
    return residualHeld.isEmpty() ? residual : residualHeld.getFirst();
  }

  /** The type that a sum with the residual is rounded to, or null where it is not rounded. */
  ElementType residualRounded() {
    return narrow(residualNarrowest()) ? residualNarrowest() : null;
  }

  /** Whether this library adds such a residual. */
  boolean taken() {
    return residual == null || (x == ElementType.FLOAT64) == (residual == ElementType.FLOAT64);
  }

  /** Whether this library rounds that sum, which it does to the type of the residual as stored. */
  boolean roundsResidual() {
    return narrow(residual);
  }
}
