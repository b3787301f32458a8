package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.internal.formula.Stage;

/** Makes kernels in plain Java, which know where a back end keeps columns. */
public interface PlainKernels {
  /** The kernel of a stage. */
  Kernel plain(Stage stage);
}
