package io.github.rmsnorm4j.models.transformer;

/**
 * What computes the products of float32 matrices. A model is given one with its {@link Arithmetic}.
 * Several threads may compute products at a time.
 */
public interface MatrixProduct {
  /**
   * Plain Java, which needs nothing but the JDK: for stored models that are run, and for small
   * models. Each element is one float32 sum in the order of the inner index, without fused
   * multiply-adds. Its bits are the same on every machine, and they depend on its row and column
   * alone.
   */
  MatrixProduct PLAIN_JAVA = new PlainProduct();

  /**
   * Computes {@code c = alpha * op(a) op(b) + beta * c}, op(x) being x or its transpose. With beta
   * 0 what is in c does not count, even if it is NaN. An implementation begins with {@link
   * #requireFit}.
   *
   * @param a a matrix, not changed
   * @param transposeA whether the transpose of a is meant
   * @param b a matrix, not changed
   * @param transposeB whether the transpose of b is meant
   * @param alpha factor of the product
   * @param beta factor of what is in c
   * @param c the result; must not share memory with a or b
   * @throws IllegalArgumentException if the shapes do not fit together; c is unchanged then
   */
  void multiply(
      Matrix a,
      boolean transposeA,
      Matrix b,
      boolean transposeB,
      float alpha,
      float beta,
      Matrix c);

  /**
   * Checks the shapes of a product, since native code checks nothing.
   *
   * @param a the left matrix
   * @param transposeA whether its transpose is meant
   * @param b the right matrix
   * @param transposeB whether its transpose is meant
   * @param c the result
   * @throws IllegalArgumentException if they do not fit together
   */
  static void requireFit(Matrix a, boolean transposeA, Matrix b, boolean transposeB, Matrix c) {
    boolean fits =
        c.rows == (transposeA ? a.columns : a.rows)
            && c.columns == (transposeB ? b.rows : b.columns)
            && (transposeA ? a.rows : a.columns) == (transposeB ? b.columns : b.rows);
    if (!fits) {
      throw new IllegalArgumentException(
          "the product of %s x %s and %s x %s, either transposed or not, is not %s x %s"
              .formatted(a.rows, a.columns, b.rows, b.columns, c.rows, c.columns));
    }
  }

  /** {@return its name in a sentence, for example {@code plain Java}} */
  @Override
  String toString();
}
