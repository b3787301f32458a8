package io.github.rmsnorm4j.studies.train;

/**
 * Which part of a step's time went where; they add up to 1.
 *
 * @param norm norms
 * @param attention attention
 * @param mlp MLPs
 * @param rest embedding, output head, loss, optimiser, data
 */
public record Shares(double norm, double attention, double mlp, double rest) {}
