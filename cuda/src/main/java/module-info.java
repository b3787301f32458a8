/** The norms on NVIDIA GPUs, with the bits of the CPU. */
@SuppressWarnings("module") // The module that a package is for is built later.
module io.github.rmsnorm4j.cuda {
  requires transitive io.github.rmsnorm4j;

  exports io.github.rmsnorm4j.cuda;
  exports io.github.rmsnorm4j.cuda.eager to
      io.github.rmsnorm4j.studies;
}
