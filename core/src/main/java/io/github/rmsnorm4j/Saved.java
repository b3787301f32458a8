package io.github.rmsnorm4j;

/**
 * What a forward pass leaves for its backward pass. To be used again and again, by one forward and
 * one backward pass after the other; not by several threads at once.
 *
 * <p>It refers to the rows that are kept, and to the gain and bias of the call, if it was given
 * any; all of these must stay as they are until {@link Norm#backward} is done.
 */
public final class Saved {
  private final Keep keep;
  private final int capacity;
  private double[] mean;
  private double[] rstd;
  private Norm norm;
  private Rows kept;
  private Rows gain;
  private Rows bias;

  /**
   * Room for the statistics of rows.
   *
   * @param keep what is kept
   * @param rows how many rows a forward pass may have, at most
   * @throws IllegalArgumentException if rows is negative
   */
  public Saved(Keep keep, int rows) {
    if (rows < 0) {
      throw new IllegalArgumentException("rows is " + rows + ", it must not be negative");
    }
    this.keep = NormArguments.requireNonNull(keep, "keep");
    capacity = rows;
  }

  /**
   * What is kept.
   *
   * @return the choice made at the start
   */
  public Keep keep() {
    return keep;
  }

  /**
   * Each row's rstd, float32 values in float32 arithmetic; null where nothing is kept, and before
   * the first forward pass.
   *
   * @return the array itself, of as many elements as there is room for rows
   */
  public double[] rstd() {
    return rstd;
  }

  /**
   * Each row's mean; null for RMSNorm, and where it is not kept.
   *
   * @return the array itself, of as many elements as there is room for rows
   */
  public double[] mean() {
    return mean;
  }

  /** Makes room for a forward pass of a norm; what was kept before is lost. */
  void begin(Norm norm, boolean centred, long rows) {
    if (rows > capacity) {
      throw new IllegalArgumentException(
          "saved has room for " + capacity + " rows, there are " + rows);
    }
    kept = null;
    this.norm = norm;
    if (keep != Keep.NOTHING && rstd == null) {
      rstd = new double[capacity];
    }
    boolean means = keep == Keep.INPUT && centred;
    mean = !means ? null : mean == null ? new double[capacity] : mean;
  }

  void end(Rows kept, Rows gain, Rows bias) {
    this.kept = kept;
    this.gain = gain;
    this.bias = bias;
  }

  Rows kept(Norm norm) {
    if (kept == null) {
      throw new IllegalStateException("saved is empty: there has been no forward pass with it");
    }
    if (this.norm != norm) {
      throw new IllegalArgumentException(
          "saved is of a forward pass of " + this.norm + ", this is " + norm);
    }
    return kept;
  }

  Rows gain() {
    return gain;
  }

  Rows bias() {
    return bias;
  }
}
