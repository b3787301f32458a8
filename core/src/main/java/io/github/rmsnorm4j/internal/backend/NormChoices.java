package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.NormSpec;

/**
 * The choices of a norm for rows of one width and compute type, except its gain and bias.
 *
 * @param part the number of first elements of the statistic; the width unless the norm is partial
 * @param epsilon the spec's for this compute type
 */
public record NormChoices(NormSpec spec, int width, int part, double epsilon) {
  /** Whether the mean is subtracted. */
  public boolean isCentred() {
    return spec.isCentred();
  }

  /** Whether the statistic is of all elements of a row. */
  public boolean isWhole() {
    return part == width;
  }
}
