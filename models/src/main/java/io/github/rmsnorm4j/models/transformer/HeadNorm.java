package io.github.rmsnorm4j.models.transformer;

/** The RMSNorm of query or key heads: each head of each token is a row of h elements. */
final class HeadNorm {
  private final NormLayer norm;

  /** What is to be normalised, to be written before the forward pass. */
  final HeadMatrix input;

  private final HeadMatrix output;

  HeadNorm(Setup setup, String name, HeadMatrix output) {
    this.output = output;
    input = new HeadMatrix(setup, output.heads);
    norm = NormLayer.ofHeads(setup, name, output.rows.rows);
  }

  void forward() {
    norm.forward(input.rows, output.rows);
  }

  /** In place. */
  void backward(HeadMatrix gradient) {
    norm.backward(gradient.rows, gradient.rows);
  }
}
