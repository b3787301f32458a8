package io.github.rmsnorm4j.models.rewrite;

/**
 * What one rounding to the stored type did to computed numbers.
 *
 * @param computed numbers that were computed and stored
 * @param changed those among them that the stored type does not hold exactly
 * @param small those among them that are smaller than the normal numbers of their type: they lose
 *     digits, or become 0
 * @param largest the largest change of the others, as a share of the number
 */
public record RoundingCount(long computed, long changed, long small, double largest) {}
