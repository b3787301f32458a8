package io.github.rmsnorm4j.studies.train;

/**
 * The residual stream at a depth, over a batch.
 *
 * @param depth 0 before the first block
 * @param activation root of the mean square of its elements
 * @param gradient the same of the loss's gradient
 * @param rho mean^2 / mean(x^2) of a row, the mean over the rows
 */
public record Layer(int depth, double activation, double gradient, double rho) {}
