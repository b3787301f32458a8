package io.github.rmsnorm4j.internal.backend;

/** A program that is ready to run. Several threads may use it at once. */
public interface Compiled {
  /** The work of this thread on a call. No other call uses the worker until it is closed. */
  Worker open(Call call);

  /**
   * Brings sums of columns to their natural order, after all rows were added.
   *
   * @param sums float[] or double[], of the width or longer
   */
  default void order(Object sums, int width) {}
}
