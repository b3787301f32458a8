package io.github.rmsnorm4j.models.transformer;

import static io.github.rmsnorm4j.models.transformer.Requirement.require;

/** What computes the products of float32 matrices. */
public enum MatrixProduct {
  /**
   * OpenBLAS, for training: several times faster, and its native libraries must be on the class
   * path.
   *
   * <p>With the number of threads that it is told to use, OpenBLAS cuts a product in the same way
   * every time, so results are the same to the bit from run to run on one machine. Another number
   * of threads, or another machine, may round otherwise.
   */
  OPENBLAS("OpenBLAS"),

  /**
   * Plain Java, for small models: it needs nothing but the JDK. Each element has the same bits on
   * every machine, and they depend on its row and column alone.
   */
  PLAIN_JAVA("plain Java");

  private final String label;

  MatrixProduct(String label) {
    this.label = label;
  }

  /**
   * Sets how many threads a product of {@link #OPENBLAS} may use, in the whole process; 1 until it
   * is called. With 1, several threads may compute products at a time. Every number of threads has
   * results of its own, in the last bits.
   *
   * @param threads 1 or more
   * @throws IllegalArgumentException if it is less
   * @throws UnsatisfiedLinkError if there is no OpenBLAS for this machine
   */
  public static void useThreads(int threads) {
    require(threads >= 1, "threads", threads, "be at least 1");
    OpenBlas.setThreads(threads);
  }

  /** {@code c = alpha * op(a) op(b) + beta * c}, op(x) being x or its transpose. */
  void multiply(
      Matrix a,
      boolean transposeA,
      Matrix b,
      boolean transposeB,
      float alpha,
      float beta,
      Matrix c) {
    int inner = transposeA ? a.rows : a.columns;
    check(c.rows == (transposeA ? a.columns : a.rows), a, b, c);
    check(c.columns == (transposeB ? b.rows : b.columns), a, b, c);
    check(inner == (transposeB ? b.columns : b.rows), a, b, c);
    switch (this) {
      case OPENBLAS -> OpenBlas.multiply(a, transposeA, b, transposeB, alpha, beta, c);
      case PLAIN_JAVA -> PlainProduct.multiply(a, transposeA, b, transposeB, alpha, beta, c);
    }
  }

  /** Native code checks nothing, so shapes are checked here. */
  private static void check(boolean fits, Matrix a, Matrix b, Matrix c) {
    if (!fits) {
      throw new IllegalArgumentException(
          "the product of %s x %s and %s x %s, either transposed or not, is not %s x %s"
              .formatted(a.rows, a.columns, b.rows, b.columns, c.rows, c.columns));
    }
  }

  /** Its name in a sentence: {@code OpenBLAS}, {@code plain Java}. */
  @Override
  public String toString() {
    return label;
  }
}
