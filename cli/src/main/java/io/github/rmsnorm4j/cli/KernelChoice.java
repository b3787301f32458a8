package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.formats.Tensor;
import java.util.Collection;

/** Which kernels a job is done with soonest, from a cold start. The bits are the same. */
final class KernelChoice {
  /**
   * Below this many elements, kernels without vectors are done before those with vectors have been
   * compiled: as measured, at 128 MiB of float32 and 64 MiB of float16 the two are equally fast.
   */
  static final long WORTH_VECTORS = 32 << 20;

  private KernelChoice() {}

  /** The kernels for all of these tensors together. */
  static Backend forAll(Collection<Tensor> tensors) {
    if (tensors.stream().mapToLong(Tensor::elements).sum() < WORTH_VECTORS) {
      return Backend.scalar();
    }
    return VectorApi.bestBackend();
  }
}
