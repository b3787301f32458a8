/**
 * Tensors in {@code .npy}, {@code .safetensors} and GGUF files.
 *
 * <p>{@link io.github.rmsnorm4j.formats.TensorFile} reads and {@link
 * io.github.rmsnorm4j.formats.TensorWriter} writes, both in pieces of the size of the caller's
 * buffer. So a file may be larger than memory. The writer uses {@link
 * io.github.rmsnorm4j.formats.ReplacingFile}: a file that appears whole or not at all.
 *
 * <p>A sharded {@code .safetensors} model is read through its index, as one {@link
 * io.github.rmsnorm4j.formats.ShardedFile}, and a split GGUF model through any of its parts. GGUF
 * files are not written. {@code .npz} archives and files of PyTorch are not read.
 *
 * <p>It may use the core and Jackson's parser.
 */
package io.github.rmsnorm4j.formats;
