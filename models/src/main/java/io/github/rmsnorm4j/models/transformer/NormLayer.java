package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.models.transformer.StepTimes.Part;

/**
 * One of the library's norms at its place in the model. Gain and bias are rows of the model's
 * weights: each call reads them there, as they change with each step.
 */
final class NormLayer {
  private final Norm norm;
  private final StepTimes times;
  private final Saved saved;

  /** Null where rows are float32 in the norm as well. */
  private final NarrowRows narrow;

  /** Those of the gate; null where there is no gate, or rows are float32. */
  private final NarrowRows narrowGate;

  private final Learned learnedGain;

  /** Null where there is no bias. */
  private final Learned learnedBias;

  private final float[] gainSum;
  private final float[] biasSum;
  private final ParameterGradients sums;

  private NormLayer(NormSpec spec, int width, Setup setup, String name, int rows) {
    Weights weights = setup.weights();
    learnedGain = weights.learned(name + ".weight");
    learnedBias = weights.learnedOrNull(name + ".bias");
    Rows bias = learnedBias == null ? null : learnedBias.values.asRows();
    norm =
        spec.builder(width)
            .threads(setup.threads())
            .backend(setup.arithmetic().backend())
            .build()
            .withParameters(learnedGain.values.asRows(), bias);
    times = setup.times();
    saved = new Saved(Keep.INPUT, rows);
    boolean narrows = setup.arithmetic().narrowsRows();
    narrow = narrows ? new NarrowRows(setup, rows, norm.width()) : null;
    boolean gated = spec.gate() != Gate.NONE;
    narrowGate = narrows && gated ? new NarrowRows(setup, rows, norm.width()) : null;
    gainSum = new float[norm.width()];
    biasSum = learnedBias == null ? null : new float[norm.width()];
    sums = ParameterGradients.assigned(gainSum, biasSum);
  }

  /** The model's norm, of rows as wide as the model. */
  static NormLayer of(Setup setup, String name) {
    ModelConfig config = setup.config();
    return new NormLayer(config.norm(), config.width(), setup, name, setup.rows());
  }

  /** An RMSNorm of query or key heads. */
  static NormLayer ofHeads(Setup setup, String name, int rows) {
    ModelConfig config = setup.config();
    return new NormLayer(config.headNorm(), config.headWidth(), setup, name, rows);
  }

  /** The gated RMSNorm of the outputs of attention heads. */
  static NormLayer ofHeadOutputs(Setup setup, String name, int rows) {
    ModelConfig config = setup.config();
    return new NormLayer(config.headOutputNorm(), config.headWidth(), setup, name, rows);
  }

  /** {@code y = norm(x)}; x must stay as it is until the backward pass, y need not. */
  void forward(Matrix x, Matrix y) {
    Part before = times.switchTo(Part.NORM);
    if (narrow == null) {
      norm.apply(x.asRows(), y.asRows(), saved);
    } else {
      forwardNarrow(x, y);
    }
    times.switchTo(before);
  }

  private void forwardNarrow(Matrix x, Matrix y) {
    narrow.roundFrom(x);
    norm.apply(narrow.rows, narrow.rows);
    narrow.widenTo(y);
  }

  /** {@code y = norm(x) * silu(z)}, or as the gate says; x and z must stay as they are. */
  void forwardGated(Matrix x, Matrix z, Matrix y) {
    Part before = times.switchTo(Part.NORM);
    if (narrow == null) {
      norm.applyGated(x.asRows(), z.asRows(), y.asRows(), saved);
    } else {
      narrow.roundFrom(x);
      narrowGate.roundFrom(z);
      norm.applyGated(narrow.rows, narrowGate.rows, narrow.rows);
      narrow.widenTo(y);
    }
    times.switchTo(before);
  }

  /** Whether {@link #forwardAndAdd} can do this norm, an addition and the next norm at once. */
  boolean joins(NormLayer next) {
    return narrow == null && next.narrow == null;
  }

  /**
   * {@code residual += norm(x); y = next(residual)} in one pass; x and the residual must stay as
   * they are until the backward pass, y need not.
   */
  void forwardAndAdd(Matrix x, Matrix residual, NormLayer next, Matrix y) {
    Part before = times.switchTo(Part.NORM);
    norm.applyAndAdd(x.asRows(), residual.asRows(), next.norm, y.asRows(), saved, next.saved);
    times.switchTo(before);
  }

  /** dx from dy; dx may be dy. */
  void backward(Matrix dy, Matrix dx) {
    Part before = times.switchTo(Part.NORM);
    norm.backward(dy.asRows(), saved, dx.asRows(), sums);
    addSums();
    times.switchTo(before);
  }

  /** dx from dy, and from the gradient of the residual that x is added to; dx may be either. */
  void backward(Matrix dy, Matrix dresidual, Matrix dx) {
    Part before = times.switchTo(Part.NORM);
    norm.backward(dy.asRows(), saved, dresidual.asRows(), dx.asRows(), sums);
    addSums();
    times.switchTo(before);
  }

  /** dx and dz from dy; dz may be dy. */
  void backwardGated(Matrix dy, Matrix dx, Matrix dz) {
    Part before = times.switchTo(Part.NORM);
    norm.backwardGated(dy.asRows(), saved, dx.asRows(), dz.asRows(), sums);
    addSums();
    times.switchTo(before);
  }

  private void addSums() {
    learnedGain.gradient().add(gainSum);
    if (learnedBias != null) {
      learnedBias.gradient().add(biasSum);
    }
  }
}
