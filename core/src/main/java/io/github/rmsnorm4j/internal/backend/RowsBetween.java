package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.NullUnmarked;

/** The rows of a chunk that a norm writes and the next step reads, in memory of one thread. */
@NullUnmarked // An object of a pool: between calls it refers to no memory.
public final class RowsBetween implements AutoCloseable {
  private static final Pool<RowsBetween> POOL = new Pool<>(RowsBetween::new);

  /** By type, what stands for the rows of a chunk in arrays, and in native memory. */
  private static final RowMemory[] ANY = any(false);

  private static final RowMemory[] ANY_NATIVE = any(true);

  private final RowWindow written = new RowWindow();
  private final RowWindow read = new RowWindow();
  private ElementType type;
  private int width;
  private int rows;
  private int groupsWritten;
  private int groupsRead;
  private MemorySegment memory;

  /** What has the memory; the other one is null. */
  private Staging staging;

  private NativeMemory nativeMemory;

  private RowsBetween() {}

  private static RowMemory[] any(boolean isNative) {
    ElementType[] types = ElementType.values();
    RowMemory[] any = new RowMemory[types.length];
    for (ElementType type : types) {
      MemorySegment none = isNative ? MemorySegment.NULL : array(new Staging(), type, 0);
      any[type.ordinal()] = new RowMemory(none, type, 0, new RowWindow());
    }
    return any;
  }

  /** What stands for the rows of a chunk of any thread; a call is planned with it. */
  public static RowMemory any(ElementType type, boolean isNative) {
    return (isNative ? ANY_NATIVE : ANY)[type.ordinal()];
  }

  private static MemorySegment array(Staging staging, ElementType type, int n) {
    return switch (type) {
      case FLOAT64 -> MemorySegment.ofArray(staging.doubles(n));
      case FLOAT32 -> MemorySegment.ofArray(staging.floats(n));
      case FLOAT16, BFLOAT16 -> MemorySegment.ofArray(staging.shorts(n));
    };
  }

  /**
   * For rows of a call of this thread, like those that it was planned with.
   *
   * @param elements of a chunk, unless one row is longer
   */
  public static RowsBetween open(RowMemory any, int width, int elements) {
    RowsBetween between = POOL.take();
    between.type = any.type();
    between.width = width;
    between.rows = Math.max(1, elements / width);
    int n = between.rows * width;
    if (any.segment().isNative()) {
      between.nativeMemory = ColumnMemory.take((long) n * any.type().bytes());
      between.memory = between.nativeMemory.segment();
    } else {
      between.staging = Staging.take();
      between.memory = array(between.staging, any.type(), n);
    }
    return between;
  }

  /** Rows of a chunk. */
  public int rows() {
    return rows;
  }

  /** What a norm of rows with so many groups writes. */
  public RowMemory written(int groups) {
    groupsWritten = groups;
    return rows(groups, written);
  }

  /** What a norm of rows with so many groups reads. */
  public RowMemory read(int groups) {
    groupsRead = groups;
    return rows(groups, read);
  }

  private RowMemory rows(int groups, RowWindow window) {
    return new RowMemory(memory, type, (long) width / groups * type.bytes(), window);
  }

  /** Says which row of the caller the memory begins with. */
  public void moveTo(long row) {
    written.first = row * groupsWritten;
    read.first = row * groupsRead;
  }

  @Override
  public void close() {
    if (nativeMemory == null) {
      staging.giveBack();
    } else {
      ColumnMemory.giveBack(nativeMemory);
    }
    staging = null;
    nativeMemory = null;
    memory = null;
    POOL.giveBack(this);
  }
}
