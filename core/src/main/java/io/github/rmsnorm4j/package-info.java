/**
 * RMSNorm, LayerNorm and L2 norm of rows in arrays, buffers and memory segments: the public API.
 *
 * <pre>{@code
 * RmsNorm norm = RmsNorm.builder(4096).epsilon(1e-6).gain(weights).build();
 * norm.apply(x, y);
 * }</pre>
 *
 * <p>{@link io.github.rmsnorm4j.RmsNorm}, {@link io.github.rmsnorm4j.LayerNorm} and {@link
 * io.github.rmsnorm4j.L2Norm} build norms, {@link io.github.rmsnorm4j.Norm} has their methods, and
 * {@link io.github.rmsnorm4j.Rows} describes memory as rows.
 *
 * <p>Nothing is null, as argument or result, unless it is {@code @Nullable}.
 *
 * <p>It uses nothing but the JDK. {@link io.github.rmsnorm4j.Norm} is where to begin reading.
 */
@NullMarked
package io.github.rmsnorm4j;

import org.jspecify.annotations.NullMarked;
