package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.models.transformer.StepTimes.Part;

/**
 * Puts blocks on a tape: attention, then MLP, each with its residual connection and norms; or both
 * of them from the same input. Without norms each half is {@code y = x + f(x)}.
 */
final class Block {
  private static final Runnable NOTHING = () -> {};

  private final Tape tape;
  private final ModelConfig config;
  private final Rotary rotary;

  /** The norm behind the last half, if its sum with the stream is what the next norm is given. */
  private NormLayer behind;

  Block(Tape tape) {
    this.tape = tape;
    config = tape.config;
    rotary = new Rotary(tape);
  }

  /** The stream behind a block, whose tensors' names begin with this name. */
  Variable add(String name, Variable x) {
    Variable y = half(name, false, x);
    if (!config.form().parallelResidual()) {
      return half(name, true, y);
    }
    inner(name, true, x, y, true);
    return y;
  }

  /** Attention or MLP with its residual connection, which its last product adds where it can. */
  private Variable half(String name, boolean mlp, Variable x) {
    boolean after = config.hasNorms() && config.placement().after();
    if (after && config.placement() == Placement.SANDWICH) {
      Variable branch = tape.variable(config.width(), "branch");
      inner(name, mlp, x, branch, false);
      Variable y = tape.stream();
      behind = norm(name + "." + ParameterLayout.after(mlp), branch, y);
      behind.addTo(x);
      return y;
    }
    Variable sum = tape.stream();
    // In the backward pass the gradient of the sum is the beginning of that of x: in place.
    tape.add(Part.REST, () -> sum.values.copyFrom(x.values), NOTHING);
    inner(name, mlp, x, sum, true);
    if (!after) {
      return sum;
    }
    Variable y = tape.stream();
    norm(name + "." + ParameterLayout.after(mlp), sum, y).add(false);
    return y;
  }

  private void inner(String name, boolean mlp, Variable stream, Variable y, boolean add) {
    boolean normed = config.hasNorms() && config.placement().before();
    String before = name + "." + ParameterLayout.before(config, mlp);
    Variable x = normed ? normed(before, stream, "branch", true) : stream;
    if (mlp) {
      mlp(name + ".mlp", x, !normed, y, add);
    } else {
      attention(name + ".self_attn", x, !normed, y, add);
    }
  }

  /**
   * The stream behind a norm.
   *
   * @param gradient names the memory of its gradient
   * @param addGradient whether the stream also goes on as it is
   */
  Variable normed(String name, Variable stream, String gradient, boolean addGradient) {
    Variable y = tape.variable(config.width(), gradient);
    NormLayer norm = norm(name, stream, y);
    if (behind != null) {
      behind.join(norm);
      behind = null;
    }
    norm.add(addGradient);
    return y;
  }

  private NormLayer norm(String name, Variable x, Variable y) {
    return new NormLayer(tape, config.norm(), config.width(), name, x, y);
  }

  /** The last projection of x in the forward pass is the first to give it a gradient. */
  private void attention(String name, Variable x, boolean hasGradient, Variable y, boolean add) {
    int width = config.headWidth();
    boolean gated = config.headGate() != Gate.NONE;
    Variable v = tape.variable(config.keyValueHeads() * width, "v");
    tape.linear(Part.ATTENTION, name + ".v_proj", x, true, v, false);
    Variable k = rotated(name + ".k", x, true, config.keyValueHeads() * width);
    Variable q = rotated(name + ".q", x, hasGradient || gated, config.heads() * width);
    Variable context = tape.variable(config.heads() * width, "context");
    new Attention(tape, q, k, v, context);
    if (gated) {
      Variable z = tape.variable(config.heads() * width, "gated");
      tape.linear(Part.ATTENTION, name + ".g_proj", x, hasGradient, z, false);
      Variable input = context;
      context = tape.variable(config.heads() * width, "gated");
      new NormLayer(tape, config.headOutputNorm(), width, name + ".o_norm", input, context)
          .addGated(z);
    }
    tape.linear(Part.ATTENTION, name + ".o_proj", context, false, y, add);
  }

  /** Queries or keys, normalised where the model says so, and rotated. */
  private Variable rotated(String name, Variable x, boolean addGradient, int columns) {
    Variable projected = tape.variable(columns, name.substring(name.length() - 1));
    Variable heads = projected;
    tape.linear(Part.ATTENTION, name + "_proj", x, addGradient, projected, false);
    if (config.queryKeyNorm()) {
      heads = tape.variable(columns, name.substring(name.length() - 1));
      new NormLayer(tape, config.headNorm(), config.headWidth(), name + "_norm", projected, heads)
          .add(false);
    }
    rotary.add(heads);
    return heads;
  }

  private void mlp(String name, Variable x, boolean hasGradient, Variable y, boolean add) {
    MlpKind kind = config.form().mlp();
    Variable up = tape.variable(config.mlpWidth(), "up");
    tape.linear(Part.MLP, name + ".up_proj", x, true, up, false);
    Variable hidden = up;
    if (kind == MlpKind.SWIGLU) {
      Variable gate = tape.variable(config.mlpWidth(), "gate");
      tape.linear(Part.MLP, name + ".gate_proj", x, hasGradient, gate, false);
      hidden = tape.variable(config.mlpWidth(), "up");
      new SwiGlu(tape, gate, up, hidden);
    } else {
      tape.add(Part.MLP, () -> up.values.replaceEach(kind::of), Tape.NO_BACKWARD);
    }
    tape.linear(Part.MLP, name + ".down_proj", hidden, false, y, add);
  }
}
