package io.github.rmsnorm4j.transformer;

import io.github.rmsnorm4j.transformer.StepTimes.Part;

/** A block: attention, then MLP, each with its residual connection and norms. */
final class Block {
  private final SubLayer attention;
  private final SubLayer mlp;

  Block(Setup setup, String name, Rotary rotary) {
    attention =
        subLayer(setup, name, new Attention(setup, name + ".self_attn", rotary), Part.ATTENTION);
    mlp = subLayer(setup, name, new SwiGlu(setup, name + ".mlp"), Part.MLP);
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
    return mlp.forward(attention.forward(x));
  }

  /** From the gradient of the result that of x, in place. */
  void backward(Matrix d, Scratch scratch) {
    mlp.backward(d, scratch);
    attention.backward(d, scratch);
  }
}
