package io.github.rmsnorm4j.studies.compare;

/**
 * Tensors of one size. One that was given back is the next that is taken, as an eager framework's
 * caching allocator does it, so that no call pays for fresh memory.
 *
 * @param <T> a tensor
 */
interface Pool<T> {
  T take();

  void giveBack(T tensor);
}
