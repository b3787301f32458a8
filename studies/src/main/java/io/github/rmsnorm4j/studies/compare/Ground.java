package io.github.rmsnorm4j.studies.compare;

import java.util.function.LongSupplier;

/**
 * What variants run on: the tensors of a subject, filled with its numbers.
 *
 * @param <T> a tensor
 */
interface Ground<T> extends AutoCloseable {
  Subject subject();

  /** Where others of the same size come from. */
  Pool<T> tensors();

  /** The input. */
  T x();

  /** The gradient of the output; null in a forward pass. */
  T dy();

  Contestant<T> contestant(Variant variant);

  /** Copies the input to another tensor, as fast as a norm could. */
  void copy(T to);

  double[] read(T tensor, int row);

  void write(T tensor, int row, double[] values);

  /** Does work again and again until it will become no faster. */
  void rehearse(Runnable work);

  /** Nanoseconds, once the work that was begun is done. */
  LongSupplier clock();

  @Override
  void close();
}
