package io.github.rmsnorm4j.benchmarks;

/** LayerNorm, with a gain and a bias. */
public class LayerNormBenchmark extends NormBenchmark {
  /** For JMH. */
  public LayerNormBenchmark() {
    super(Kernel.LAYER_NORM);
  }
}
