package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.ForwardPhase;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One checked call of a norm: everything that is the same for all rows.
 *
 * @param rows by place: the rows of each tensor of elements, up to the last one; null where the
 *     call has none
 * @param gain float[] or double[] as the arithmetic is, with its offset; null without one
 * @param bias likewise
 * @param ofNorm copies of gain and bias if they are those of the norm, which never change; or null
 * @param kept by place: takes numbers of rows, such as mean and rstd; null where they are not
 *     wanted, and where none are
 * @param given by place: numbers of rows that are known before their first step, such as mean and
 *     rstd that a forward pass kept; null where they are not, and where none are
 * @param copies by place: columns that were copied for this call alone; null where none may be
 */
public record Call(
    NormChoices choices,
    Formula formula,
    @Nullable RowMemory[] rows,
    @Nullable Object gain,
    @Nullable Object bias,
    @Nullable NormColumns ofNorm,
    double @Nullable [] @Nullable [] kept,
    double @Nullable [] @Nullable [] given,
    @Nullable NativeMemory @Nullable [] copies)
    implements AutoCloseable {
  /** Gain and bias. */
  private static final int COLUMNS = 2;

  /** A call that has copied no columns. */
  public Call(
      NormChoices choices,
      Formula formula,
      @Nullable RowMemory[] rows,
      @Nullable Object gain,
      @Nullable Object bias,
      @Nullable NormColumns ofNorm,
      double @Nullable [] @Nullable [] kept,
      double @Nullable [] @Nullable [] given) {
    this(
        choices,
        formula,
        rows,
        gain,
        bias,
        ofNorm,
        kept,
        given,
        // Only rows that are done in pieces have columns of their own for the call.
        choices.width() > SumOrder.SUPER_BLOCK || !choices.isWhole()
            ? new NativeMemory[COLUMNS]
            : null);
  }

  /** Mean and rstd of rows by place; null if there are neither. */
  public static double @Nullable [] @Nullable [] numbers(
      double @Nullable [] mean, double @Nullable [] rstd) {
    if (mean == null && rstd == null) {
      return null;
    }
    double @Nullable [] @Nullable [] numbers = new double[Tensor.Access.ROW.places()][];
    numbers[Forward.MEAN.place()] = mean;
    numbers[Forward.RSTD.place()] = rstd;
    return numbers;
  }

  /**
   * A phase of a forward call, of its input alone or with an output.
   *
   * @param numbers by place: takes numbers of rows, or gives them to the output
   */
  public Call phase(
      ForwardPhase.Phase of, boolean output, double @Nullable [] @Nullable [] numbers) {
    ForwardPhase phase = new ForwardPhase((ForwardFormula) formula, of);
    RowMemory[] input = {rowsOf(Forward.X)};
    return output
        ? new Call(choices, phase, rows, gain, bias, ofNorm, null, numbers, copies)
        : new Call(choices, phase, input, null, null, ofNorm, numbers, null);
  }

  /** The same call with rows of a tensor elsewhere. */
  public Call withRows(Tensor tensor, RowMemory there) {
    @Nullable RowMemory[] own = rows.clone();
    own[tensor.place()] = there;
    return new Call(choices, formula, own, gain, bias, ofNorm, kept, given, copies);
  }

  /** The rows of a tensor, or null. */
  public @Nullable RowMemory rows(Tensor tensor) {
    return rows(tensor.place());
  }

  /** The rows of the tensor with a place, or null. */
  public @Nullable RowMemory rows(int place) {
    return place < rows.length ? rows[place] : null;
  }

  /** The rows of a tensor that the call has. */
  public RowMemory rowsOf(Tensor tensor) {
    RowMemory of = rows(tensor);
    if (of == null) {
      throw new IllegalStateException("the call has no rows " + tensor);
    }
    return of;
  }

  /** Rows after which the next ones may be at another stride; a number beyond all rows if none. */
  public long period() {
    long period = Long.MAX_VALUE;
    for (RowMemory of : rows) {
      period = of == null || of.period() == 0 ? period : Math.min(period, of.period());
    }
    return period;
  }

  /** A gain or bias, float[] or double[], or null. */
  public @Nullable Object column(Tensor tensor) {
    return tensor.place() == Forward.GAIN.place() ? gain : bias;
  }

  /** Whether the arithmetic is float64. */
  public boolean float64() {
    return rowsOf(Forward.X).type() == ElementType.FLOAT64;
  }

  /** The types of its rows for kernels that read these 16-bit types themselves. */
  public Storage storage(Set<ElementType> narrow) {
    Map<Tensor, ElementType> types = new TreeMap<>();
    for (Tensor tensor : formula.rows()) {
      RowMemory of = rows(tensor);
      if (of != null) {
        types.put(tensor, of.type());
      }
    }
    return new Storage(float64(), narrow, types);
  }

  /** The steps of its rows. */
  public Program program(Storage storage) {
    RowMemory residual = rows(Forward.RESIDUAL);
    boolean inPlace = residual != null && residual.isDirect(storage);
    return formula.program(storage, choices.width(), choices.part(), inPlace);
  }

  /** A gain or bias in native memory, where the norm always has it; null if it has not. */
  public @Nullable MemorySegment columnOfNorm(Tensor column) {
    Object numbers = column(column);
    return ofNorm == null || numbers == null ? null : ofNorm.of(column, numbers, choices.width());
  }

  /**
   * A gain or bias in native memory, for all threads of a call whose rows are in pieces; null if
   * the call has none.
   */
  public @Nullable MemorySegment nativeColumn(Tensor column) {
    Object numbers = column(column);
    MemorySegment kept = columnOfNorm(column);
    return kept != null || numbers == null ? kept : copy(column, numbers);
  }

  private MemorySegment copy(Tensor column, Object numbers) {
    @Nullable NativeMemory[] ofCall = Objects.requireNonNull(copies, "rows are not in pieces");
    synchronized (ofCall) {
      NativeMemory copy = ofCall[column.place()];
      if (copy == null) {
        copy = ColumnMemory.copy(numbers, choices.width());
        ofCall[column.place()] = copy;
      }
      return copy.segment();
    }
  }

  /** Gives the memory of copied columns back, when all threads are done. */
  @Override
  public void close() {
    for (int place = 0; copies != null && place < copies.length; place++) {
      if (copies[place] != null) {
        ColumnMemory.giveBack(copies[place]);
      }
    }
  }
}
