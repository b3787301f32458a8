package io.github.rmsnorm4j.internal.kernel;

/** Numbers of rows from the first one on, such as mean and rstd, by the place of their tensor. */
public interface RowNumbers {
  /** Sets a number of n rows to those of an array from an index on. */
  void set(int place, double[] from, int at, int n);

  /** Sets a number of n rows to 0. */
  void zero(int place, int n);

  /** Copies a number of n rows to an array from an index on. */
  void copy(int place, int n, double[] into, int at);
}
