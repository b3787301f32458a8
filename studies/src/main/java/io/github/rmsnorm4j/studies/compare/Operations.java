package io.github.rmsnorm4j.studies.compare;

/**
 * Operations as an eager framework runs them: each is one pass over memory, makes a whole tensor or
 * a number for each row or column, and rounds it to the tensors' type. What they read and write is
 * counted.
 *
 * @param <T> a tensor
 * @param <N> numbers of rows or columns
 */
interface Operations<T, N> {
  /** Numbers of columns. */
  N columns(float[] values);

  T square(T a);

  T multiply(T a, T b);

  T add(T a, T b);

  /** Each row times its number. */
  T scale(T a, N by);

  /** Each row less its number. */
  T subtract(T a, N of);

  /** Each column times its number. */
  T scaleColumns(T a, N by);

  /** Each column and its number. */
  T shiftColumns(T a, N by);

  /** The sum of each row. */
  N rowSums(T a);

  /** The mean of each row. */
  N rowMeans(T a);

  /** The sum of each column. */
  N columnSums(T a);

  /** {@code 1 / sqrt(v + epsilon)} of each row's number, which is used up. */
  N rstd(N variances, double epsilon);

  /**
   * From the gradients of rstd, which are used up, to what each centred element is multiplied by:
   * {@code -g * rstd^3 / width}.
   */
  N throughRoot(N gradients, N rstd);

  /** It is wanted no more: its memory is that of the next result. */
  void free(T tensor);

  /** Numbers of rows that are wanted no more. */
  void forgetRows(N numbers);

  /** Numbers of columns that are wanted no more. */
  void forgetColumns(N numbers);

  /** The numbers of columns, as the type of the tensors has them. */
  float[] values(N columns);

  /** What has been done to each element since this was asked before. */
  Work work();
}
