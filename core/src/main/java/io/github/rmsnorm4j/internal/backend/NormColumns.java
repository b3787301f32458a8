package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Strips;
import io.github.rmsnorm4j.internal.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The gain and bias of a norm in native memory, for one compute type, copied once, because they
 * never change. When the norm is dropped, the garbage collector gives the memory back. It may come
 * late, so there is a limit for all norms together: beyond it, each call copies them again.
 */
public final class NormColumns {
  /** The most of all norms: twice that of a model with 250 norms of 16,384 elements. */
  private static final long MAX_BYTES = 1 << 25;

  /** The bytes of all norms. */
  private static final AtomicLong BYTES = new AtomicLong();

  /** A key for these columns. A reference to the key does not keep their memory. */
  public final Object key = new Object();

  /** For loops, in arrays. */
  private final AtomicReferenceArray<double[]> widened =
      new AtomicReferenceArray<>(Tensor.Access.COLUMN.places());

  private final AtomicReferenceArray<MemorySegment> copies =
      new AtomicReferenceArray<>(Tensor.Access.COLUMN.places());

  /** A column as float64, copied once if it is float32; null for null. */
  double @Nullable [] widened(Tensor column, @Nullable Object numbers) {
    if (!(numbers instanceof float[] narrow)) {
      return (double[]) numbers;
    }
    double[] copy = widened.get(column.place());
    if (copy == null) {
      copy = Strips.widen(narrow, new double[narrow.length], narrow.length);
      widened.set(column.place(), copy);
    }
    return copy;
  }

  /** The copy of a column; null beyond the limit. */
  public @Nullable MemorySegment of(Tensor column, Object numbers, int width) {
    MemorySegment copy = copies.get(column.place());
    return copy == null ? make(column, numbers, width) : copy;
  }

  private @Nullable MemorySegment make(Tensor column, Object numbers, int width) {
    ValueLayout layout = ColumnMemory.layout(numbers);
    long size = width * layout.byteSize();
    long bytes = NativeMemory.taken(size);
    if (BYTES.get() + bytes > MAX_BYTES) {
      return null;
    }
    NativeMemory memory = new NativeMemory(size, () -> BYTES.addAndGet(-bytes));
    MemorySegment copy = memory.segment();
    MemorySegment.copy(numbers, 0, copy, layout, 0, width);
    boolean fits = BYTES.addAndGet(bytes) <= MAX_BYTES;
    if (fits && copies.compareAndSet(column.place(), null, copy)) {
      return copy;
    }
    // Other threads have never seen it.
    memory.close();
    return copies.get(column.place());
  }
}
