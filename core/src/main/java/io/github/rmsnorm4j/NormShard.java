package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.BlockLanes;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Shard;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import io.github.rmsnorm4j.internal.norm.Runner;
import io.github.rmsnorm4j.internal.norm.SharedSums;
import java.lang.ref.Reference;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One owner's part of a norm whose rows are split: each of several owners has some columns of every
 * row, as in tensor parallelism. An owner is a thread, a process or a machine. The result has the
 * bits that {@link Norm#apply(Rows, Rows)} of the whole norm gives to whole rows, forward and
 * backward, however the rows are split.
 *
 * <pre>{@code
 * NormShard shard = norm.shard(2048, 4096);       // this owner has columns 2,048 to 4,095
 * shard.apply(x, y, exchange);                    // x and y are rows of 2,048 elements
 * }</pre>
 *
 * <p><b>How it works.</b> The statistic of a row is a sum. Each owner sums its own blocks of 1,024
 * elements, 32 partial sums for each block. An exchange brings the partial sums of all blocks to
 * all owners, and each owner adds them in the order of a whole row. These are 256 bytes for each
 * block and sum: an RMSNorm has one sum, a LayerNorm two. A LayerNorm also exchanges the first
 * element of each row, and rows of more than 2^20 elements are summed twice.
 *
 * <p><b>Owners.</b> Their columns follow each other and cover the row. Each begins at a multiple of
 * 1,024. All owners make the same calls in the same order with as many rows, and equal norms. The
 * types and the memory of rows may be an owner's own, except that the type of x and of the residual
 * must be the same for all. An owner whose call throws an exception exchanges nothing more, so the
 * others wait in their exchange.
 *
 * <p><b>Exchanges.</b> A forward call has one exchange; of LayerNorm two, and three for rows of
 * more than 2^20 elements. A backward call has one. Each float64 row that is out of range adds one
 * to a forward call, or two for LayerNorm rows of more than 2^20 elements; float64 rows are written
 * by one thread, so that all owners do them in the same order. An exchange runs on the thread of
 * the call.
 *
 * <p><b>What does not combine.</b> A partial norm, groups of a row and gates are refused. Where
 * whole groups are of one owner, they need no exchange: use a norm of that owner's groups. {@link
 * Keep#NOTHING} is refused too, because the statistic would have to be exchanged again.
 *
 * <p><b>Threads and memory.</b> A shard is immutable. Several threads may use it at once, if their
 * exchanges are apart. Each call allocates arrays for the numbers of all its rows.
 */
public final class NormShard {
  private final Norm whole;
  private final int from;
  private final int to;

  /** Has the gain and bias of the columns. Its statistic is that of whole rows. */
  private final Norm columns;

  private final Map<Formula, List<Program>> phases = new ConcurrentHashMap<>();

  NormShard(Norm whole, int from, int to) {
    NormSpec spec = whole.spec();
    require(spec.part().isWhole(), "part", spec.part(), "1");
    require(whole.groups == 1, "groupCount", whole.groups, "1");
    require(spec.gate() == Gate.NONE, "gate", spec.gate(), "none");
    requireRange(from, to, whole.width());
    this.whole = whole;
    this.from = from;
    this.to = to;
    columns = whole.ofColumns(from, to);
  }

  private static void require(boolean holds, String name, Object value, String allowed) {
    if (!holds) {
      throw new IllegalArgumentException(
          name + " is " + value + ", of a norm whose rows are split it must be " + allowed);
    }
  }

  private static void requireRange(int from, int to, int width) {
    if (from < 0 || from >= width || from % SumOrder.BLOCK != 0) {
      throw new IllegalArgumentException(
          "from is "
              + from
              + ", it must be a multiple of 1024 from 0 to below the width, "
              + width);
    }
    if (to <= from || to > width || to % SumOrder.BLOCK != 0 && to != width) {
      throw new IllegalArgumentException(
          ("to is " + to + ", it must be above from, " + from)
              + (", and a multiple of 1024 below the width or the width, " + width));
    }
  }

  /** {@return the norm of whole rows, of which this is a part} */
  public Norm norm() {
    return whole;
  }

  /** {@return the first column of this owner} */
  public int from() {
    return from;
  }

  /** {@return the end of the columns of this owner} */
  public int to() {
    return to;
  }

  /** {@return the number of columns of this owner: the width of the rows that it passes} */
  public int width() {
    return to - from;
  }

  /**
   * Normalises rows, together with the other owners.
   *
   * @param x this owner's elements of each row
   * @param y where the result of these elements goes; x itself for in place
   * @param exchange how owners exchange numbers
   * @throws NullPointerException if an argument is null
   * @throws IllegalArgumentException if the shapes do not fit, there are so many rows that an array
   *     cannot hold their numbers, y is read-only, or memory overlaps illegally
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void apply(Rows x, Rows y, SumExchange exchange) {
    forward(x, null, y, null, exchange);
  }

  /**
   * Normalises rows, together with the other owners, and keeps what {@link #backward(Rows, Saved,
   * Rows, ParameterGradients, SumExchange)} needs.
   *
   * @param x this owner's elements of each row
   * @param y where the result of these elements goes; not x itself if the input is kept
   * @param saved takes what is kept, {@link Keep#INPUT} or {@link Keep#OUTPUT}: the same for all
   *     owners
   * @param exchange how owners exchange numbers
   * @throws NullPointerException if an argument is null
   * @throws IllegalArgumentException as for {@link #apply(Rows, Rows, SumExchange)}, or if saved
   *     has room for fewer rows, keeps nothing, or keeps an output that does not determine the
   *     input
   */
  public void apply(Rows x, Rows y, Saved saved, SumExchange exchange) {
    forward(x, null, y, NormArguments.requireNonNull(saved, "saved"), exchange);
  }

  /**
   * Adds x to the residual and normalises the sum, together with the other owners: {@code residual
   * += x; y = norm(residual)}, as {@link Norm#addAndApply(Rows, Rows, Rows)} of the whole norm.
   *
   * @param x this owner's elements of the rows that are added
   * @param residual takes the sum; memory of its own
   * @param y where the result of these elements goes; x itself for in place
   * @param exchange how owners exchange numbers
   * @throws NullPointerException if an argument is null
   * @throws IllegalArgumentException as for {@link #apply(Rows, Rows, SumExchange)}, or if the
   *     residual overlaps x or y
   */
  public void addAndApply(Rows x, Rows residual, Rows y, SumExchange exchange) {
    forward(x, NormArguments.requireNonNull(residual, "residual"), y, null, exchange);
  }

  /**
   * Adds x to the residual and normalises the sum, together with the other owners, and keeps what
   * the backward pass needs. The kept input is the residual with the sum in it.
   *
   * @param x this owner's elements of the rows that are added
   * @param residual takes the sum; memory of its own
   * @param y where the result of these elements goes; x itself for in place
   * @param saved takes what is kept
   * @param exchange how owners exchange numbers
   * @throws NullPointerException if an argument is null
   * @throws IllegalArgumentException as for {@link #apply(Rows, Rows, Saved, SumExchange)}, or if
   *     the residual overlaps x or y
   */
  public void addAndApply(Rows x, Rows residual, Rows y, Saved saved, SumExchange exchange) {
    NormArguments.requireNonNull(residual, "residual");
    forward(x, residual, y, NormArguments.requireNonNull(saved, "saved"), exchange);
  }

  /**
   * The backward pass, together with the other owners: from the gradient of the output to that of
   * the input, of gain and of bias. {@link Norm#backward(Rows, Saved, Rows, ParameterGradients)}
   * has the formulas.
   *
   * @param dy the gradient of this owner's elements of the output
   * @param saved what the forward pass of this shard kept
   * @param dx where the gradient of this owner's elements of the input goes; dy itself for in place
   * @param gradients where the gradients of this owner's elements of gain and bias go, arrays of
   *     {@link #width()} elements; null if they are not wanted
   * @param exchange how owners exchange numbers
   * @throws NullPointerException if an argument other than gradients is null
   * @throws IllegalArgumentException if the shapes or types do not fit, dx is read-only, or it
   *     overlaps what is kept or, other than in place, dy
   * @throws IllegalStateException if there was no forward pass, or a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void backward(
      Rows dy, Saved saved, Rows dx, @Nullable ParameterGradients gradients, SumExchange exchange) {
    goBack(dy, saved, null, dx, gradients, exchange);
  }

  /**
   * The backward pass with the gradient from the skip connection: {@code dx = gradient of the norm
   * + dresidual}, added in the compute type.
   *
   * @param dy the gradient of this owner's elements of the output
   * @param saved what the forward pass of this shard kept
   * @param dresidual the gradient of this owner's elements of the residual with the sum in it
   * @param dx where the gradient of this owner's elements of x and of the old residual goes
   * @param gradients where the gradients of this owner's elements of gain and bias go, or null
   * @param exchange how owners exchange numbers
   * @throws NullPointerException if an argument other than gradients is null
   * @throws IllegalArgumentException as for {@link #backward(Rows, Saved, Rows, ParameterGradients,
   *     SumExchange)}
   */
  public void backward(
      Rows dy,
      Saved saved,
      Rows dresidual,
      Rows dx,
      @Nullable ParameterGradients gradients,
      SumExchange exchange) {
    NormArguments.requireNonNull(dresidual, "dresidual");
    goBack(dy, saved, dresidual, dx, gradients, exchange);
  }

  private void goBack(
      Rows dy,
      Saved saved,
      @Nullable Rows dresidual,
      Rows dx,
      @Nullable ParameterGradients gradients,
      SumExchange exchange) {
    SharedSums shared = shared(exchange);
    requireWidth(dy, "dy");
    requireWidth(dx, "dx");
    if (dresidual != null) {
      requireWidth(dresidual, "dresidual");
    }
    BackwardCall call = new BackwardCall(columns, saved, dy, dx);
    (dresidual == null ? call : call.adding(dresidual)).run(gradients, shared);
  }

  private void requireWidth(Rows rows, String name) {
    if (NormArguments.requireNonNull(rows, name).width() != width()) {
      throw new IllegalArgumentException(
          name + " has rows " + rows.width() + " wide, the shard is " + width() + " wide");
    }
  }

  private SharedSums shared(SumExchange exchange) {
    NormArguments.requireNonNull(exchange, "exchange");
    return new SharedSums(new Shard(whole.width(), from, to, exchange::gather), phases);
  }

  private void forward(
      Rows x, @Nullable Rows residual, Rows y, @Nullable Saved saved, SumExchange exchange) {
    SharedSums shared = shared(exchange);
    requireWidth(x, "x");
    requireWidth(y, "y");
    if (residual != null) {
      requireWidth(residual, "residual");
    }
    requireRoom(x.rows(), whole.spec().isCentred() ? 2 : 1);
    ForwardCall call = new ForwardCall(columns, x, y);
    call.residual = residual;
    if (saved == null) {
      ForwardArguments.check(call);
    } else {
      requireKept(saved, new ForwardCall(whole, x, y));
      ForwardArguments.checkKept(call, saved, "saved", null);
      call.begin(saved);
    }
    if (x.rows() > 0) {
      compute(call, shared);
    }
    if (saved != null) {
      call.end(saved);
    }
  }

  /** The numbers of all rows must fit into an array. */
  private void requireRoom(long rows, int sums) {
    long ofRow = BlockLanes.length(whole.width(), 1, sums);
    if (rows > NormArguments.MAX_ELEMENTS / ofRow) {
      throw new IllegalArgumentException(
          ("x has " + rows + " rows, of a norm " + whole.width() + " wide whose rows are split")
              + (" it must have at most " + NormArguments.MAX_ELEMENTS / ofRow));
    }
  }

  /** All owners must be able to go back, or one would wait for another. */
  private void requireKept(Saved saved, ForwardCall ofWhole) {
    if (saved.keep() == Keep.NOTHING) {
      throw new IllegalArgumentException(
          "saved keeps nothing, where rows are split it must keep the input or the output");
    }
    if (saved.keep() == Keep.OUTPUT) {
      ForwardArguments.requireNoZeros(ofWhole);
    }
  }

  /** Relies on the checks. */
  private void compute(ForwardCall of, SharedSums shared) {
    // The exchange is called by the caller's thread.
    if (!FirstTier.isInJavasState() && FloatingPointGuard.runs(false, () -> compute(of, shared))) {
      return;
    }
    BackEndParts parts = columns.backEndParts();
    Call call = of.call(of.output(parts), null, null);
    int threads = CallMemory.isShared(call.rows()) ? columns.threads : 1;
    try (Call rest = shared.run(call, parts.plans, of.x.rows(), threads)) {
      Runner.run(rest, parts.plans, of.x.rows(), call.float64() ? 1 : threads);
    } finally {
      Reference.reachabilityFence(of);
    }
  }

  /** For example {@code columns 0 to 2047 of RmsNorm(4096, llama(eps=1e-5), gain)}. */
  @Override
  public String toString() {
    return columns.toString();
  }
}
