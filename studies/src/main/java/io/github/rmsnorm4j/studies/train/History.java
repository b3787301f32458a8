package io.github.rmsnorm4j.studies.train;

import java.util.List;

/**
 * What a checkpoint keeps besides the weights.
 *
 * @param losses of each step
 * @param millis of each step
 * @param partMillis of all steps after the first tenth: norms, attention, MLPs, rest
 * @param before the depth as it was in the first step
 */
public record History(
    List<Double> losses, List<Double> millis, List<Double> partMillis, List<Layer> before) {}
