package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * What a forward pass keeps for its backward pass. One object serves any number of forward and
 * backward passes, one after the other. It is not for use by several threads at once.
 *
 * <p>It refers to the rows that are kept, and to the gain and bias that the caller gave {@link
 * Norm#withParameters}. None of them may change until {@link Norm#backward} is done.
 *
 * <pre>{@code
 * Saved saved = new Saved(Keep.INPUT, rows);
 * norm.apply(x, y, saved);
 * norm.backward(dy, saved, dx, ParameterGradients.assigned(dgain, null));
 * }</pre>
 */
public final class Saved {
  private final Keep keep;
  private final int capacity;

  /** Mean and rstd of rows, by place; null where they are not kept. */
  private final double[] @Nullable [] numbers = new double[Tensor.Access.ROW.places()][];

  private @Nullable Norm norm;
  private @Nullable Rows kept;
  private @Nullable Rows z;
  private @Nullable Rows gain;
  private @Nullable Rows bias;

  /**
   * Makes an object for forward passes of up to so many rows.
   *
   * @param keep what is kept
   * @param rows the largest number of rows of a forward pass
   * @throws IllegalArgumentException if rows is negative
   */
  public Saved(Keep keep, int rows) {
    if (rows < 0) {
      throw new IllegalArgumentException("rows is " + rows + ", it must not be negative");
    }
    this.keep = NormArguments.requireNonNull(keep, "keep");
    capacity = rows;
  }

  /** {@return what is kept: the value given to the constructor} */
  public Keep keep() {
    return keep;
  }

  /**
   * {@return the rstd of each row, in the array itself, not a copy; its length is the number of
   * rows given to the constructor} For rows with groups it has the rstd of each group, row after
   * row, and is as many times as long; it stays as long for later norms with fewer groups. In
   * float32 arithmetic an rstd is a float32 value, or a float64 value if the row is out of the
   * range of float32. With {@link CastOrder#NONE} it is a value of the row's type if that has 16
   * bits. Null with {@link Keep#NOTHING}, and before the first forward pass.
   */
  public double @Nullable [] rstd() {
    return numbers[Forward.RSTD.place()];
  }

  /**
   * {@return the mean of each row, or of each group, in the array itself like {@link #rstd}} Null
   * for RMSNorm, and unless {@link Keep#INPUT} is chosen.
   */
  public double @Nullable [] mean() {
    return numbers[Forward.MEAN.place()];
  }

  /** What was kept before is still there if a call is refused. */
  void requireRoom(long rows, int groups, String name) {
    if (rows > capacity) {
      throw new IllegalArgumentException(
          name + " has room for " + capacity + " rows, there are " + rows);
    }
    if (keep != Keep.NOTHING && (long) capacity * groups > NormArguments.MAX_ELEMENTS) {
      throw new IllegalArgumentException(
          name
              + " has room for "
              + capacity
              + " rows, with "
              + groups
              + " groups each it must be at most "
              + NormArguments.MAX_ELEMENTS / groups);
    }
  }

  /**
   * Begins a forward pass of a norm, or of a view of it, after all checks; what was kept before is
   * lost.
   */
  void begin(Norm norm, int groups, boolean centred) {
    boolean keepsMean = keep == Keep.INPUT && centred;
    int n = keep == Keep.NOTHING ? 0 : capacity * groups;
    room(Forward.RSTD, n, keep != Keep.NOTHING);
    room(Forward.MEAN, n, keepsMean);
    end(null, null, null, null);
    this.norm = norm.source();
  }

  private void room(Tensor number, int n, boolean isKept) {
    double[] array = numbers[number.place()];
    boolean fits = array != null && array.length >= n;
    numbers[number.place()] = !isKept ? null : fits ? array : new double[n];
  }

  /** Mean and rstd by place, the arrays themselves; null if none are kept. */
  double @Nullable [] @Nullable [] numbers() {
    return keep == Keep.NOTHING ? null : numbers;
  }

  void end(@Nullable Rows kept, @Nullable Rows z, @Nullable Rows gain, @Nullable Rows bias) {
    this.kept = kept;
    this.z = z;
    this.gain = gain;
    this.bias = bias;
  }

  Rows kept(Norm norm) {
    if (kept == null) {
      throw new IllegalStateException("saved is empty: there has been no forward pass with it");
    }
    if (this.norm != norm.source()) {
      throw new IllegalArgumentException(
          "saved is of a forward pass of another norm object, " + this.norm + ", this is " + norm);
    }
    return kept;
  }

  /** The rows of the gate; null without one. */
  @Nullable Rows z() {
    return z;
  }

  @Nullable Rows gain() {
    return gain;
  }

  @Nullable Rows bias() {
    return bias;
  }
}
