/**
 * A Transformer language model with this library's norms, forward and backward, and what trains it.
 *
 * <p>Trainings use OpenBLAS for matrix products, called through the foreign function interface:
 * start java with {@code --enable-native-access=io.github.rmsnorm4j.transformer}, or {@code
 * ALL-UNNAMED} on the class path. Small models may use plain Java in its place.
 */
module io.github.rmsnorm4j.transformer {
  requires transitive io.github.rmsnorm4j;
  requires io.github.rmsnorm4j.formats;
  requires com.fasterxml.jackson.core;
  requires org.bytedeco.javacpp;
  requires org.bytedeco.openblas;

  exports io.github.rmsnorm4j.transformer;
}
