/**
 * Tensors in {@code .npy} and {@code .safetensors} files.
 *
 * <p>{@link io.github.rmsnorm4j.formats.TensorFile} reads and {@link
 * io.github.rmsnorm4j.formats.TensorWriter} writes, both in pieces of the size of the caller's
 * buffer. So a file may be larger than memory. The writer uses {@link
 * io.github.rmsnorm4j.formats.ReplacingFile}: a file that appears whole or not at all.
 *
 * <p>{@code .npz} archives are not supported. Each file of a sharded {@code .safetensors} model is
 * read by itself.
 */
package io.github.rmsnorm4j.formats;
