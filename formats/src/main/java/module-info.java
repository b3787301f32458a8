/**
 * Tensors in {@code .npy} and {@code .safetensors} files, read and written in pieces.
 *
 * <p>A file is taken for hostile until its header has been checked: nothing is evaluated, no size
 * is believed before it has been compared with the file's, and whatever is wrong with a file comes
 * back as one {@link io.github.rmsnorm4j.formats.FormatException}.
 */
module io.github.rmsnorm4j.formats {
  requires transitive io.github.rmsnorm4j;
  requires com.fasterxml.jackson.core;

  exports io.github.rmsnorm4j.formats;
}
