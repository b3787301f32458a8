package io.github.rmsnorm4j;

import java.lang.reflect.Array;
import org.jspecify.annotations.Nullable;

/** Checks backward calls, and the lengths of the gradients of gain and bias. */
final class BackwardArguments {
  /** Stands for the length of a gradient that is not wanted. */
  static final int NONE = -1;

  private BackwardArguments() {}

  static void check(Norm norm, CallOperands of) {
    NormArguments.requireNonNull(of.of(CallOperand.DY), "dy");
    NormArguments.requireNonNull(of.of(CallOperand.DX), "dx");
    of.check(norm, CallOperand.BACKWARD);
  }

  /**
   * Checks the arrays for gradients of gain and bias.
   *
   * @param parameters the length of gain and bias; 0 if it may be that of a row or of a group
   */
  static void checkLengths(Norm norm, ParameterGradients gradients, int parameters) {
    checkLengths(norm, length(gradients.gain()), length(gradients.bias()), parameters);
  }

  private static int length(@Nullable Object gradient) {
    return gradient == null ? NONE : Array.getLength(gradient);
  }

  /**
   * Checks the lengths of the gradients of gain and bias.
   *
   * @param gain that of dgain; {@link #NONE} if it is not wanted
   * @param bias that of dbias; {@link #NONE} if it is not wanted
   * @param parameters that of gain and bias; 0 if it may be that of a row or of a group
   */
  static void checkLengths(Norm norm, int gain, int bias, int parameters) {
    checkLength(norm, gain, parameters, CallOperand.DGAIN);
    checkLength(norm, bias, gain == NONE ? parameters : gain, CallOperand.DBIAS);
  }

  private static void checkLength(Norm norm, int length, int parameters, CallOperand operand) {
    if (length == NONE) {
      return;
    }
    if (parameters == 0) {
      NormArguments.requireParameterLength(
          length, norm.width(), norm.groupWidth, operand.toString());
    } else if (length != parameters) {
      throw new IllegalArgumentException(
          (operand + " has " + length + " elements, ")
              + ("it must have as many as the other parameters, " + parameters));
    }
  }
}
