package io.github.rmsnorm4j.benchmarks;

/** RMSNorm, with a gain. */
public class RmsNormBenchmark extends NormBenchmark {
  /** For JMH. */
  public RmsNormBenchmark() {
    super(Kernel.RMS_NORM);
  }
}
