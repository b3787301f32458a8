/**
 * Tensors in {@code .npy} and {@code .safetensors} files.
 *
 * <p>{@link io.github.rmsnorm4j.formats.TensorFile} reads, {@link
 * io.github.rmsnorm4j.formats.TensorWriter} writes, both in pieces as large as the caller's buffer,
 * so that a file may be larger than memory. {@link io.github.rmsnorm4j.formats.ReplacingFile} is
 * what the writer writes into: a file that appears whole or not at all.
 */
package io.github.rmsnorm4j.formats;
