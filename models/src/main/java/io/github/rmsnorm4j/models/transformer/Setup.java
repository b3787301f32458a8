package io.github.rmsnorm4j.models.transformer;

import java.lang.foreign.Arena;

/**
 * What layers are built from.
 *
 * @param weights the learned numbers
 * @param batch sequences, B
 * @param sequence tokens of each, T
 * @param positions which of a sequence's positions a pass is for
 * @param threads that a norm may use
 * @param arithmetic what computes
 * @param arena where activations live
 * @param times where the time goes
 */
record Setup(
    Weights weights,
    int batch,
    int sequence,
    Positions positions,
    int threads,
    Arithmetic arithmetic,
    Arena arena,
    StepTimes times) {

  ModelConfig config() {
    return weights.config();
  }

  /** Rows of the residual stream, N. */
  int rows() {
    return batch * sequence;
  }

  Matrix allocate(int rows, int columns) {
    return Matrix.allocate(arena, rows, columns);
  }
}
