package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.transformer.StepTimes.Part;

/**
 * Puts blocks on a tape: attention, then MLP, each with its residual connection and norms; or both
 * of them from the same input. Without norms each half is {@code y = x + f(x)}.
 */
final class Block {
  /** Names the gradient of the residual stream, (N, d). */
  static final String STREAM = "stream";

  private final Tape tape;
  private final ModelConfig config;
  private final Rotary rotary;

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
    boolean before = config.hasNorms() && config.placement().before();
    boolean after = config.hasNorms() && config.placement().after();
    String norm = name + "." + ParameterLayout.after(mlp);
    if (before && after) {
      Variable branch = tape.variable(config.width(), "branch");
      inner(name, mlp, x, branch, false);
      Variable y = norm(norm, branch, STREAM, false);
      tape.add(Part.REST, () -> y.values.add(x.values), Tape.NOTHING);
      return y;
    }
    Variable y = tape.variable(config.width(), STREAM);
    // In the backward pass the gradient of y is the beginning of that of x: in place.
    tape.add(Part.REST, () -> y.values.copyFrom(x.values), Tape.NOTHING);
    inner(name, mlp, x, y, true);
    return after ? norm(norm, y, STREAM, false) : y;
  }

  private void inner(String name, boolean mlp, Variable stream, Variable y, boolean add) {
    boolean normed = config.hasNorms() && config.placement().before();
    String before = name + "." + ParameterLayout.before(config, mlp);
    Variable x = normed ? norm(before, stream, "branch", true) : stream;
    if (mlp) {
      mlp(name + ".mlp", x, !normed, y, add);
    } else {
      attention(name + ".self_attn", x, !normed, y, add);
    }
  }

  /** What the head is given: the stream behind its norm. */
  Variable finalNorm(Variable x) {
    return config.hasFinalNorm() ? norm(ParameterLayout.FINAL_NORM, x, STREAM, false) : x;
  }

  private Variable norm(String name, Variable x, String gradient, boolean addGradient) {
    return NormLayer.add(tape, config.norm(), config.width(), name, x, gradient, addGradient);
  }

  /** The last projection of x in the forward pass is the first to give it a gradient. */
  private void attention(String name, Variable x, boolean addGradient, Variable y, boolean add) {
    Variable v = tape.linear(Part.ATTENTION, name + ".v_proj", x, true, "v");
    Variable k = rotated(name, "k", x, true);
    Variable q = rotated(name, "q", x, addGradient);
    Variable context = tape.variable(q.values.columns, "context");
    Attention.add(tape, q, k, v, context);
    tape.linear(Part.ATTENTION, name + ".o_proj", context, false, y, add);
  }

  /** Queries or keys, normalised where the model says so, and rotated. */
  private Variable rotated(String name, String which, Variable x, boolean addGradient) {
    String prefix = name + "." + which;
    Variable heads = tape.linear(Part.ATTENTION, prefix + "_proj", x, addGradient, which);
    if (config.queryKeyNorm()) {
      int width = config.headWidth();
      heads = NormLayer.add(tape, config.headNorm(), width, prefix + "_norm", heads, which, false);
    }
    rotary.add(heads);
    return heads;
  }

  private void mlp(String name, Variable x, boolean addGradient, Variable y, boolean add) {
    MlpKind kind = config.form().mlp();
    Variable up = tape.linear(Part.MLP, name + ".up_proj", x, true, "up");
    Variable hidden = up;
    if (kind == MlpKind.SWIGLU) {
      Variable gate = tape.linear(Part.MLP, name + ".gate_proj", x, addGradient, "gate");
      hidden = tape.variable(config.mlpWidth(), "up");
      SwiGlu.add(tape, gate, up, hidden);
    } else {
      tape.add(Part.MLP, () -> up.values.replaceEach(kind::of), Tape.NOTHING);
    }
    tape.linear(Part.MLP, name + ".down_proj", hidden, false, y, add);
  }
}
