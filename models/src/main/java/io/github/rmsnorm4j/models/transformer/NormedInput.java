package io.github.rmsnorm4j.models.transformer;

/**
 * What a half of a block, or the head of a model, is given: the residual stream behind a norm, or
 * the stream itself where there is none.
 */
final class NormedInput {
  /**
   * The largest stream, in bytes, that {@link #takeSum} copies. The call writes the sum over a copy
   * of the stream, because the stream must stay for the backward pass. On a Zen 5 this took less
   * time than three steps up to 2 MiB, and more from 8 MiB on: a larger copy has left the cache
   * before the call reads it.
   */
  private static final long MOST_COPIED = 2 << 20;

  /** Null where there is none. */
  final NormLayer norm;

  /** (N, d); null where there is no norm. */
  private final Matrix normed;

  private Matrix stream;

  private NormedInput(NormLayer norm, Matrix normed) {
    this.norm = norm;
    this.normed = normed;
  }

  /** The stream behind the norm of a name. */
  static NormedInput of(Setup setup, String name) {
    Matrix normed = setup.allocate(setup.rows(), setup.config().width());
    return new NormedInput(NormLayer.of(setup, name), normed);
  }

  /** The stream itself. */
  static NormedInput bare() {
    return new NormedInput(null, null);
  }

  /** Takes the stream (N, d), which must stay as it is until the backward pass. */
  void take(Matrix stream) {
    this.stream = stream;
    if (norm != null) {
      norm.forward(stream, normed);
    }
  }

  /** Takes the sum of the stream x and {@code after(branch)}, which it writes to sum. */
  void takeSum(Matrix x, NormLayer after, Matrix branch, Matrix sum) {
    boolean small = sum.elements() * Float.BYTES <= MOST_COPIED;
    if (small && norm != null && after.joins(norm)) {
      stream = sum;
      sum.copyFrom(x);
      after.forwardAndAdd(branch, sum, norm, normed);
    } else {
      after.forward(branch, sum);
      sum.add(x);
      take(sum);
    }
  }

  /** (N, d): what was taken, behind the norm. */
  Matrix get() {
    return norm == null ? stream : normed;
  }
}
