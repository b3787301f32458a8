package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.measure.Samples;

/**
 * What a variant took.
 *
 * @param variant which
 * @param nanos of a call
 * @param work what is done to each element
 * @param parameters elements of gain and bias
 * @param error the largest, as a part of the largest element of its row
 */
public record Timed(Variant variant, Samples nanos, Work work, long parameters, double error) {}
