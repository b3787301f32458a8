package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.formula.Tensor;
import org.jspecify.annotations.Nullable;

/** How kernels have the gain and bias of a call. */
public interface Columns {
  /** As the call has them. */
  Columns NATURAL = Call::column;

  /** As float64, if they are those of the norm; a float32 is exact in it. */
  Columns WIDENED =
      (call, column) ->
          call.ofNorm() == null
              ? call.column(column)
              : call.ofNorm().widened(column, call.column(column));

  /** A column for kernels, float[] or double[]; null if the call has none. */
  @Nullable Object of(Call call, Tensor column);
}
