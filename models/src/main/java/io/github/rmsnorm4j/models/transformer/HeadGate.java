package io.github.rmsnorm4j.models.transformer;

/**
 * The norm and the gate of the outputs of attention heads: {@code y = norm(o) * g * silu(z)} for
 * each head of each token, or what another gate makes of it. z is a projection of the attention's
 * input; all heads share the gain g. Qwen3-Next has this behind its gated delta rule. Here it is
 * behind a softmax.
 */
final class HeadGate {
  private final Linear projection;
  private final NormLayer norm;

  /**
   * The outputs of the heads, to be written before the forward pass, and kept until the backward.
   */
  final HeadMatrix input;

  private final HeadMatrix z;
  private final HeadMatrix output;

  HeadGate(Setup setup, String name, HeadMatrix input) {
    this.input = input;
    projection = new Linear(setup, name + ".g_proj");
    z = new HeadMatrix(setup, input.heads);
    output = new HeadMatrix(setup, input.heads);
    norm = NormLayer.ofHeadOutputs(setup, name + ".o_norm", input.rows.rows);
  }

  /** The input normalised and gated, (N, H * h); x (N, d) is what the attention was given. */
  Matrix forward(Matrix x) {
    projection.forward(x, z.all, false);
    norm.forwardGated(input.rows, z.rows, output.rows);
    return output.all;
  }

  /** What the last forward pass gave. */
  Matrix output() {
    return output.all;
  }

  /**
   * The gradient of the heads' outputs, and that of x by way of the gate.
   *
   * @param doutput the gradient of the output, which becomes that of z
   * @param add whether the result is added to dx
   */
  void backward(Matrix x, HeadMatrix doutput, HeadMatrix dinput, Matrix dx, boolean add) {
    norm.backwardGated(doutput.rows, dinput.rows, doutput.rows);
    projection.backward(x, doutput.all, dx, add);
  }
}
