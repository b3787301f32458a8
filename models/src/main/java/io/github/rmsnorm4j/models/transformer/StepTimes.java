package io.github.rmsnorm4j.models.transformer;

import java.util.Arrays;

/**
 * Where the time of a step goes: a watch that is always on one part, so that the parts add up to
 * the whole.
 */
public final class StepTimes {
  /** The parts of a step. */
  public enum Part {
    /** Norms, those of heads among them, and additions that a norm does on its way. */
    NORM,
    /** Attention but for its norms. */
    ATTENTION,
    /** The MLP. */
    MLP,
    /** Embedding, output head, loss, other residual additions, optimiser. */
    REST
  }

  private final long[] nanos = new long[Part.values().length];
  private Part current = Part.REST;
  private long since = System.nanoTime();

  /** All parts at 0. */
  public StepTimes() {}

  /**
   * Goes on with another part.
   *
   * @param part which
   */
  public void switchTo(Part part) {
    long now = System.nanoTime();
    nanos[current.ordinal()] += now - since;
    since = now;
    current = part;
  }

  /** Sets all parts to 0 and begins with {@link Part#REST}. */
  public void reset() {
    Arrays.fill(nanos, 0);
    current = Part.REST;
    since = System.nanoTime();
  }

  /**
   * {@return the time of a part so far: nanoseconds since the last {@link #reset()}}
   *
   * @param part which
   */
  public long nanos(Part part) {
    return nanos[part.ordinal()];
  }

  /** {@return the time of all parts, in nanoseconds since the last {@link #reset()}} */
  public long totalNanos() {
    return Arrays.stream(nanos).sum();
  }
}
