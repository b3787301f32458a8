package io.github.rmsnorm4j.models.rewrite;

/** One step in the change of a tensor. Steps of a tensor are done one after the other. */
public sealed interface Step {

  /**
   * A matrix takes the gain of a norm: {@code W = W diag(g)}.
   *
   * @param gain the tensor of the gain
   * @param offset what is added to its numbers to get g
   * @param inputsFirst whether the matrix is stored as (inputs, outputs)
   * @param heads whether the gain is that of each of several heads, one after the other
   */
  record ScaleInputs(String gain, double offset, boolean inputsFirst, boolean heads)
      implements Step {}

  /**
   * All elements are multiplied by a number.
   *
   * @param factor the number
   */
  record Scale(double factor) implements Step {}

  /**
   * All elements become a number.
   *
   * @param value the number
   */
  record Fill(double value) implements Step {}

  /**
   * A bias takes the bias beta of a norm: {@code b = b + W beta}. W is the stored matrix, whose
   * inputs are not scaled yet.
   *
   * @param weight the tensor of W
   * @param inputsFirst whether W is stored as (inputs, outputs)
   * @param beta the tensor of beta
   */
  record AddProduct(String weight, boolean inputsFirst, String beta) implements Step {}

  /** Each row loses its mean; a tensor of one axis is one row. */
  record CentreRows() implements Step {}

  /** Each column loses its mean. */
  record CentreColumns() implements Step {}
}
