/**
 * A Transformer language model with this library's norms, forward and backward, and what trains it.
 *
 * <p>Matrix products are OpenBLAS's, called through the foreign function interface: start java with
 * {@code --enable-native-access=io.github.rmsnorm4j.transformer}, or {@code ALL-UNNAMED} on the
 * class path.
 */
module io.github.rmsnorm4j.transformer {
  requires transitive io.github.rmsnorm4j;
  requires io.github.rmsnorm4j.formats;
  requires com.fasterxml.jackson.core;
  requires org.bytedeco.javacpp;
  requires org.bytedeco.openblas;

  exports io.github.rmsnorm4j.transformer;
}
