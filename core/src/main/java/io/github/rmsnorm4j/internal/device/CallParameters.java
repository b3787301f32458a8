package io.github.rmsnorm4j.internal.device;

import io.github.rmsnorm4j.Rows;
import org.jspecify.annotations.Nullable;

/**
 * The gain and bias that a call has instead of the norm's own.
 *
 * @param gain one row, or one for each sample; null for the norm's own
 * @param bias as many rows; null for the norm's own
 */
public record CallParameters(@Nullable Rows gain, @Nullable Rows bias) {}
