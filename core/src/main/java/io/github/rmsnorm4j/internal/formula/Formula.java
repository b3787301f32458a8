package io.github.rmsnorm4j.internal.formula;

import java.util.List;

/** What a call asks for, whatever the types and the memory of its rows. */
public sealed interface Formula permits ForwardFormula, ForwardPhase, BackwardFormula {
  /** The tensors of elements that it may have. */
  List<Tensor> rows();

  /** The rows that the caller wants. */
  Tensor output();

  /** The storage of kernels whose stages may store for later ones what takes long to compute. */
  default Storage passing(Storage storage) {
    return storage;
  }

  /**
   * The steps of a row.
   *
   * @param width of a row
   * @param part the number of first elements of the statistic
   * @param inPlace whether a stage may store the sum with the residual, and a later one read it
   */
  Program program(Storage storage, int width, int part, boolean inPlace);
}
