/**
 * RMSNorm, LayerNorm and L2 norm for the JVM.
 *
 * <p>Kernels are machine code where the processor and the system allow it, otherwise they use the
 * Vector API ({@code --add-modules jdk.incubator.vector}), otherwise plain Java. All give the same
 * bits. {@link io.github.rmsnorm4j.Backend} says which one is in use.
 */
@SuppressWarnings("module") // The module that some packages are for is built later.
module io.github.rmsnorm4j {
  requires static jdk.incubator.vector;
  requires static org.jspecify; // Not transitive: users compile without it.

  exports io.github.rmsnorm4j;
  exports io.github.rmsnorm4j.reference;
  // Kernels for GPUs are made from the same descriptions.
  exports io.github.rmsnorm4j.internal.backend to
      io.github.rmsnorm4j.cuda;
  exports io.github.rmsnorm4j.internal.codec to
      io.github.rmsnorm4j.cuda;
  exports io.github.rmsnorm4j.internal.device to
      io.github.rmsnorm4j.cuda;
  exports io.github.rmsnorm4j.internal.formula to
      io.github.rmsnorm4j.cuda;
  exports io.github.rmsnorm4j.internal.quantized to
      io.github.rmsnorm4j.cuda;
}
