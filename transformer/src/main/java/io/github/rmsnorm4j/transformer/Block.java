package io.github.rmsnorm4j.transformer;

import io.github.rmsnorm4j.transformer.StepTimes.Part;

/**
 * A block: attention, then MLP, each with its residual connection and norms; or both of them from
 * the same input.
 */
final class Block {
  private final SubLayer attention;
  private final SubLayer mlp;
  private final boolean parallel;

  Block(Setup setup, String name, Rotary rotary) {
    attention =
        subLayer(setup, name, new Attention(setup, name + ".self_attn", rotary), Part.ATTENTION);
    BlockForm form = setup.config().form();
    boolean gated = form.mlp() == MlpKind.SWIGLU;
    String mlpName = name + ".mlp";
    Inner inner = gated ? new SwiGlu(setup, mlpName) : new PlainMlp(setup, mlpName);
    mlp = subLayer(setup, name, inner, Part.MLP);
    parallel = form.parallelResidual();
  }

  private static SubLayer subLayer(Setup setup, String name, Inner inner, Part part) {
    ModelConfig config = setup.config();
    boolean mlp = part == Part.MLP;
    NormLayer before =
        config.hasNorms() && config.placement().before()
            ? NormLayer.of(setup, name + "." + ParameterLayout.before(config, mlp))
            : null;
    NormLayer after =
        config.hasNorms() && config.placement().after()
            ? NormLayer.of(setup, name + "." + ParameterLayout.after(mlp))
            : null;
    return new SubLayer(setup, inner, part, before, after);
  }

  /** x (N, d) to the next (N, d). */
  Matrix forward(Matrix x) {
    if (parallel) {
      Matrix y = attention.forward(x);
      mlp.addTo(y, x);
      return y;
    }
    return mlp.forward(attention.forward(x));
  }

  /** From the gradient of the result that of x, in place. */
  void backward(Matrix d, Scratch scratch) {
    mlp.backward(d, scratch);
    attention.backward(d, scratch);
  }
}
