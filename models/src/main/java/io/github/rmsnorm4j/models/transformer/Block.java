package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.transformer.StepTimes.Part;

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
    NormedInput input =
        config.hasNorms() && config.placement().before()
            ? NormedInput.of(setup, name + "." + ParameterLayout.before(config, mlp))
            : NormedInput.bare();
    NormLayer after =
        config.hasNorms() && config.placement().after()
            ? NormLayer.of(setup, name + "." + ParameterLayout.after(mlp))
            : null;
    return new SubLayer(setup, inner, part, input, after);
  }

  /** What its first half is given; it must take x before the forward pass. */
  NormedInput input() {
    return attention.input();
  }

  /**
   * x (N, d) to the next (N, d).
   *
   * @param next takes the result
   */
  Matrix forward(Matrix x, NormedInput next) {
    if (parallel) {
      mlp.input().take(x);
      Matrix y = attention.forward(x, NormedInput.bare());
      mlp.addTo(y);
      next.take(y);
      return y;
    }
    return mlp.forward(attention.forward(x, mlp.input()), next);
  }

  /** From the gradient of the result that of x, in place. */
  void backward(Matrix d, Scratch scratch) {
    mlp.backward(d, scratch);
    attention.backward(d, scratch);
  }
}
