package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Saved;
import java.lang.foreign.Arena;

/**
 * What a forward pass of a {@link CudaNorm} keeps for its backward pass, as {@link Saved} does on
 * the CPU: {@link CudaNorm#saved} makes it. One object serves any number of forward and backward
 * passes, one after the other on one stream. It is not for use by several threads at once.
 *
 * <p>Mean and rstd are in the memory of the device. The object refers to the rows that are kept;
 * none may change, and their memory must not be freed, until the backward pass is done.
 *
 * <p>The first backward call that asks for a gradient of gain or bias allocates memory for the sums
 * over rows: for each of both a table with one row of the compute type for 32 rows of x. All memory
 * is freed with the arena.
 */
public final class CudaSaved {
  private static final String NUMBERS = "the rstd or the mean of saved";

  private final CudaNorm norm;
  private final Keep keep;
  private final int capacity;
  private final Arena arena;

  /** Room for rstd and, behind it, for the mean. */
  private final CudaMemory statistic;

  private CudaMemory tables;

  /** Whose forward pass was the last one. */
  private CudaNorm by;

  private CudaRows kept;
  private CudaRows z;

  CudaSaved(CudaNorm norm, Keep keep, int rows, Arena arena) {
    if (keep == null) {
      throw new NullPointerException("keep is null");
    }
    int most = Integer.MAX_VALUE / norm.parts().groups();
    if (rows < 0 || rows > most) {
      throw new IllegalArgumentException("rows is " + rows + ", it may be 0 to " + most);
    }
    this.norm = norm;
    this.keep = keep;
    this.capacity = rows;
    this.arena = arena;
    int kinds = keep == Keep.NOTHING ? 0 : hasMean() ? 2 : 1;
    statistic = norm.device().allocate(kinds * bytes(), arena);
    tables = norm.device().allocate(0, arena);
  }

  private boolean hasMean() {
    return keep == Keep.INPUT && norm.norm().spec().isCentred();
  }

  /** Of the rstd of all rows. */
  private long bytes() {
    return (long) capacity * norm.parts().groups() * Double.BYTES;
  }

  /** {@return what is kept} */
  public Keep keep() {
    return keep;
  }

  /**
   * {@return the rstd of each row in the memory of the device, one float64 number for each group}
   * The stream must have done the forward pass before it is read. {@link Saved#rstd} says which
   * numbers they are. Null with {@link Keep#NOTHING}, and before the first forward pass.
   */
  public CudaRows rstd() {
    return kept == null || keep == Keep.NOTHING ? null : numbers(0);
  }

  /**
   * {@return the mean of each row, or of each group, like {@link #rstd}} Null for RMSNorm and the
   * L2 norm, and unless {@link Keep#INPUT} is chosen.
   */
  public CudaRows mean() {
    return kept == null || !hasMean() ? null : numbers(bytes());
  }

  private CudaRows numbers(long offset) {
    return CudaRows.of(
        statistic.asSlice(offset), ElementType.FLOAT64, kept.rows(), norm.parts().groups());
  }

  /** Checks that it can take a forward pass; what was kept before is still there if not. */
  void requireRoom(String name, CudaNorm of, long rows, CallRows call) {
    requireNorm(name, of);
    if (rows > capacity) {
      throw new IllegalArgumentException(
          name + " has room for " + capacity + " rows, there are " + rows);
    }
    requireApart(call);
  }

  /** Rows of a call must not be the numbers that are kept here. */
  void requireApart(CallRows call) {
    statistic.requireAccess(() -> "saved");
    CudaRows numbers = allNumbers();
    if (numbers != null) {
      call.requireApart(NUMBERS, numbers);
    }
  }

  /** A gradient must not be the numbers that are kept here. */
  void requireApart(String name, CudaRows gradient) {
    CudaRows numbers = allNumbers();
    if (numbers != null) {
      CallRows.requireApart(norm.parts().checks(), name, gradient, NUMBERS, numbers);
    }
  }

  /** Also those that the last forward pass had no rows for; null if there is room for none. */
  private CudaRows allNumbers() {
    return statistic.byteSize() == 0
        ? null
        : CudaRows.of(
            statistic,
            ElementType.FLOAT64,
            statistic.byteSize() / bytes(),
            capacity * norm.parts().groups());
  }

  /** Two norms of a call need two of these. */
  void requireOther(CudaSaved ofNext) {
    if (this == ofNext) {
      throw new IllegalArgumentException(
          "saved and savedOfNext are one object: each needs its own");
    }
  }

  private void requireNorm(String name, CudaNorm of) {
    if (of.parts() != norm.parts()) {
      throw new IllegalArgumentException(name + " is of " + norm + ", this is " + of);
    }
  }

  /** What was kept is lost from here on. */
  void begin() {
    kept = null;
    z = null;
  }

  void end(CudaNorm by, CudaRows kept, CudaRows z) {
    this.by = by;
    this.kept = kept;
    this.z = z;
  }

  CudaRows kept(CudaNorm of) {
    requireNorm("saved", of);
    if (kept == null) {
      throw new IllegalStateException("saved is empty: there has been no forward pass with it");
    }
    if (of.parameters() != by.parameters()) {
      throw new IllegalArgumentException(
          "saved is of a forward pass of another norm object, " + by + ", this is " + of);
    }
    return kept;
  }

  /** The rows of the gate; null without one. */
  CudaRows z() {
    return z;
  }

  /** Where rstd goes, and is; 0 if it is not kept. */
  long rstdAddress() {
    return keep == Keep.NOTHING ? 0 : statistic.address();
  }

  /** Where the mean goes, and is; 0 if it is not kept. */
  long meanAddress() {
    return hasMean() ? statistic.address() + bytes() : 0;
  }

  /** The address of memory for tables of a backward pass, which calls of one stream share. */
  long tables(long bytes) {
    if (tables.byteSize() < bytes) {
      tables = norm.device().allocate(bytes, arena);
    }
    return tables.address();
  }
}
