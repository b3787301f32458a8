/**
 * RMSNorm and LayerNorm for the JVM.
 *
 * <p>The Vector API is used where it is there ({@code --add-modules jdk.incubator.vector}); without
 * it plain Java gives the same bits, more slowly. {@link io.github.rmsnorm4j.Backend} tells which
 * is in use.
 */
module io.github.rmsnorm4j {
  requires static jdk.incubator.vector;

  exports io.github.rmsnorm4j;
  exports io.github.rmsnorm4j.reference;
}
