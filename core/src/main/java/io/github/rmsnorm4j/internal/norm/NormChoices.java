package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.NormSpec;
import java.util.function.IntSupplier;

/**
 * The choices of a norm for rows of one width and compute type, except its gain and bias.
 *
 * @param part the number of first elements of the statistic; the width unless the norm is partial
 * @param epsilon the spec's for this compute type
 * @param machineBits the width of vectors of machine code, 0 for none; found by a native call
 * @param vectorBits the width of vectors of the Vector API, 0 for plain Java; slow to find
 * @param startsPlain whether the first calls of a process take plain Java
 */
public record NormChoices(
    NormSpec spec,
    int width,
    int part,
    double epsilon,
    IntSupplier machineBits,
    IntSupplier vectorBits,
    boolean startsPlain) {

  /** Whether the mean is subtracted. */
  public boolean isCentred() {
    return spec.isCentred();
  }

  /**
   * Whether the Vector API does what it is faster at than machine code: no backend was chosen by
   * name, and it is there.
   */
  boolean prefersVectors() {
    return startsPlain && vectorBits.getAsInt() > 0;
  }

  /** Whether a call of so many rows takes plain Java, because the process has just started. */
  boolean isStart(long rows) {
    return startsPlain && StartUp.covers(rows * width);
  }
}
