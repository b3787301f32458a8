package io.github.rmsnorm4j.transformer;

/** The RMSNorm of query or key heads: each head of each token is a row of h elements. */
final class HeadNorm {
  private final NormLayer norm;

  /** (N, heads * h), and the same as rows of h. */
  private final Matrix input;

  private final Matrix inputRows;
  private final Matrix outputRows;

  HeadNorm(Setup setup, String name, Matrix output) {
    int h = setup.config().headWidth();
    input = setup.allocate(output.rows, output.columns);
    inputRows = input.withColumns(h);
    outputRows = output.withColumns(h);
    norm = NormLayer.ofHeads(setup, name, outputRows.rows);
  }

  /** What is to be normalised, to be written before the forward pass. */
  Matrix input() {
    return input;
  }

  void forward() {
    norm.forward(inputRows, outputRows);
  }

  /** In place, of rows of h. */
  void backward(Matrix gradient) {
    norm.backward(gradient, gradient);
  }
}
