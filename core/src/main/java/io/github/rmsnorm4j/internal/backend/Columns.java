package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.formula.Tensor;

/** How kernels have the gain and bias of a call. */
public interface Columns {
  /** As the call has them. */
  Columns NATURAL = (column, natural) -> natural;

  /** A column for kernels, float[] or double[]; null for null. */
  Object of(Tensor column, Object natural);
}
