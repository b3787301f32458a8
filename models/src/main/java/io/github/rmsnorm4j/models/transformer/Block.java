package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
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

  /** The norm behind the last half, whose sum with the stream the next norm is given; or null. */
  private NormLayer sum;

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
    String after = name + "." + ParameterLayout.after(mlp);
    if (config.hasNorms() && config.placement() == Placement.SANDWICH) {
      Variable branch = tape.variable(config.width(), "branch");
      inner(name, mlp, x, branch, false);
      sum = norm(after, branch, STREAM);
      return sum.addTo(x);
    }
    Variable y = tape.variable(config.width(), STREAM);
    // In the backward pass the gradient of y is the beginning of that of x: in place.
    tape.add(Part.REST, () -> y.values.copyFrom(x.values), () -> {});
    inner(name, mlp, x, y, true);
    return config.hasNorms() && config.placement().after() ? norm(after, y, STREAM).add(false) : y;
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

  /** What the head is given: the stream behind its norm. */
  Variable finalNorm(Variable x) {
    return config.hasFinalNorm() ? normed(ParameterLayout.FINAL_NORM, x, STREAM, false) : x;
  }

  private Variable normed(String name, Variable stream, String gradient, boolean addGradient) {
    NormLayer norm = norm(name, stream, gradient);
    if (sum != null) {
      sum.join(norm);
      sum = null;
    }
    return norm.add(addGradient);
  }

  private NormLayer norm(String name, Variable x, String gradient) {
    return new NormLayer(tape, config.norm(), config.width(), name, x, gradient);
  }

  /** The last projection of x in the forward pass is the first to give it a gradient. */
  private void attention(String name, Variable x, boolean addGradient, Variable y, boolean add) {
    boolean gated = config.headGate() != Gate.NONE;
    Variable v = tape.linear(Part.ATTENTION, name + ".v_proj", x, true, "v");
    Variable k = rotated(name, "k", x, true);
    Variable q = rotated(name, "q", x, addGradient || gated);
    Variable context = tape.variable(q.values.columns, "context");
    new Attention(tape, q, k, v, context);
    if (gated) {
      Variable z = tape.linear(Part.ATTENTION, name + ".g_proj", x, addGradient, "gated");
      context = headNorm(config.headOutputNorm(), name + ".o_norm", context, "gated").addGated(z);
    }
    tape.linear(Part.ATTENTION, name + ".o_proj", context, false, y, add);
  }

  /** Queries or keys, normalised where the model says so, and rotated. */
  private Variable rotated(String name, String which, Variable x, boolean addGradient) {
    String prefix = name + "." + which;
    Variable heads = tape.linear(Part.ATTENTION, prefix + "_proj", x, addGradient, which);
    if (config.queryKeyNorm()) {
      heads = headNorm(config.headNorm(), prefix + "_norm", heads, which).add(false);
    }
    rotary.add(heads);
    return heads;
  }

  private NormLayer headNorm(NormSpec norm, String name, Variable x, String gradient) {
    return new NormLayer(tape, norm, config.headWidth(), name, x, gradient);
  }

  private void mlp(String name, Variable x, boolean addGradient, Variable y, boolean add) {
    MlpKind kind = config.form().mlp();
    Variable up = tape.linear(Part.MLP, name + ".up_proj", x, true, "up");
    Variable hidden = up;
    if (kind == MlpKind.SWIGLU) {
      Variable gate = tape.linear(Part.MLP, name + ".gate_proj", x, addGradient, "gate");
      hidden = tape.variable(config.mlpWidth(), "up");
      new SwiGlu(tape, gate, up, hidden);
    } else {
      tape.add(Part.MLP, () -> up.values.replaceEach(kind::of), Tape.NO_BACKWARD);
    }
    tape.linear(Part.MLP, name + ".down_proj", hidden, false, y, add);
  }
}
