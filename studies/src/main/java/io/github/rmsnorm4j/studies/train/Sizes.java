package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.models.transformer.ModelConfig;

/**
 * How large a training is.
 *
 * @param width elements of a token's row
 * @param heads of the attention
 * @param batch sequences in a step
 * @param steps how many
 */
public record Sizes(int width, int heads, int batch, int steps) {
  /**
   * Of the initial matrices. The usual 0.02 is meant for widths of thousands, and 0.2 leaves the
   * recall task unlearned for long.
   */
  private static final double INITIAL_RANGE = 0.05;

  /** Base of the rotary positions: the sequences are tens of tokens, not thousands. */
  private static final double ROPE_THETA = 100;

  /**
   * Memory of a training, in bytes: weights, gradients and two moments, and what a block keeps of a
   * batch for its way back; the rest is small compared with it.
   */
  double bytes(Task task, Contender contender) {
    ModelConfig config = config(task, contender);
    double tokens = (double) batch * task.sequence();
    double block = 10.0 * width + 4.0 * config.mlpWidth() + (double) heads * task.sequence();
    double activations = tokens * (contender.layers() * block + 2.0 * task.vocabulary());
    return Float.BYTES * (4.0 * config.parameterCount() + activations);
  }

  /** The model of a contender. */
  ModelConfig config(Task task, Contender contender) {
    return ModelConfig.of(
        task.vocabulary(),
        width,
        contender.layers(),
        heads,
        o -> {
          o.norm = contender.norm().spec;
          o.placement = contender.placement();
          o.maxPositions = task.sequence();
          o.ropeTheta = ROPE_THETA;
          o.initialRange = INITIAL_RANGE;
        });
  }
}
