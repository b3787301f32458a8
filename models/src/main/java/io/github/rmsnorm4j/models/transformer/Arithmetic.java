package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;

/**
 * How a model computes, which neither its config nor its weights say.
 *
 * @param product what computes the matrix products
 * @param backend what the norms' kernels run on, null for the fastest; it changes no bit
 * @param normRows the type that a row is rounded to before and after each norm; FLOAT32 rounds
 *     nothing. All else is float32 in any case
 */
public record Arithmetic(MatrixProduct product, Backend backend, ElementType normRows) {
  /** Plain Java throughout: for small models, as nothing has to be loaded. */
  public static final Arithmetic PLAIN =
      new Arithmetic(MatrixProduct.PLAIN_JAVA, Backend.scalar(), ElementType.FLOAT32);

  /**
   * Checks that nothing is missing.
   *
   * @throws IllegalArgumentException if a part other than the backend is null, or rows are FLOAT64
   */
  public Arithmetic {
    if (product == null || normRows == null) {
      throw new IllegalArgumentException("product and normRows must not be null");
    }
    if (normRows == ElementType.FLOAT64) {
      throw new IllegalArgumentException(
          "normRows is float64, it may be float32, float16 or bfloat16");
    }
  }

  /**
   * {@return another arithmetic: this one with rows of another type in the norms}
   *
   * @param type what rows are rounded to before and after each norm
   */
  public Arithmetic withNormRows(ElementType type) {
    return new Arithmetic(product, backend, type);
  }

  boolean narrowsRows() {
    return normRows != ElementType.FLOAT32;
  }
}
