/**
 * Tensors in {@code .npy} and {@code .safetensors} files, read and written in pieces, and in GGUF
 * files, read only.
 *
 * <p>Files are not trusted: nothing in them is evaluated, and every size in a header is compared
 * with the size of the file before memory is allocated. A file with an error gives one {@link
 * io.github.rmsnorm4j.formats.FormatException}.
 */
module io.github.rmsnorm4j.formats {
  requires transitive io.github.rmsnorm4j;
  requires com.fasterxml.jackson.core;

  exports io.github.rmsnorm4j.formats;
}
