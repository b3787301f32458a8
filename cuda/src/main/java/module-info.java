/** The norms on NVIDIA GPUs, with the bits of the CPU. */
module io.github.rmsnorm4j.cuda {
  requires transitive io.github.rmsnorm4j;

  exports io.github.rmsnorm4j.cuda;
}
