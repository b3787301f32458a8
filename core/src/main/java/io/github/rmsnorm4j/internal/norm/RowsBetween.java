package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.Pool;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.RowWindow;
import io.github.rmsnorm4j.internal.backend.Staging;
import java.lang.foreign.MemorySegment;

/** The rows of a chunk that one norm writes and the next one reads, in memory of one thread. */
public final class RowsBetween implements AutoCloseable {
  /** Bytes of a chunk, unless one row is longer. They stay in a second-level cache. */
  private static final int BYTES = 1 << 16;

  /** The most bytes of a row for which memory is kept. */
  private static final int MAX_KEPT = 1 << 24;

  private static final Pool<RowsBetween> POOL = new Pool<>(RowsBetween::new);

  /** By type, what stands for the rows of a chunk of any thread. */
  private static final RowMemory[] ANY = any();

  private final RowWindow written = new RowWindow();
  private final RowWindow read = new RowWindow();
  private Staging staging = new Staging();
  private ElementType type;
  private int width;
  private int groupsWritten;
  private int groupsRead;

  private RowsBetween() {}

  private static RowMemory[] any() {
    ElementType[] types = ElementType.values();
    RowMemory[] any = new RowMemory[types.length];
    for (ElementType type : types) {
      any[type.ordinal()] = new RowMemory(array(new Staging(), type, 0), type, 0, new RowWindow());
    }
    return any;
  }

  private static MemorySegment array(Staging staging, ElementType type, int n) {
    return switch (type) {
      case FLOAT64 -> MemorySegment.ofArray(staging.doubles(n));
      case FLOAT32 -> MemorySegment.ofArray(staging.floats(n));
      case FLOAT16, BFLOAT16 -> MemorySegment.ofArray(staging.shorts(n));
    };
  }

  /** For the rows of a chunk; a call is planned with it. */
  public static RowMemory any(ElementType type) {
    return ANY[type.ordinal()];
  }

  /** For rows of a call of this thread. */
  static RowsBetween open(ElementType type, int width) {
    RowsBetween between = POOL.take();
    between.type = type;
    between.width = width;
    return between;
  }

  /** Rows of a chunk. */
  int rows() {
    return Math.max(1, BYTES / type.bytes() / width);
  }

  /** What a norm of rows with so many groups writes. */
  RowMemory written(int groups) {
    groupsWritten = groups;
    return rows(groups, written);
  }

  /** What a norm of rows with so many groups reads. */
  RowMemory read(int groups) {
    groupsRead = groups;
    return rows(groups, read);
  }

  private RowMemory rows(int groups, RowWindow window) {
    MemorySegment array = array(staging, type, rows() * width);
    return new RowMemory(array, type, (long) width / groups * type.bytes(), window);
  }

  /** Says which row of the caller the memory begins with. */
  void moveTo(long row) {
    written.first = row * groupsWritten;
    read.first = row * groupsRead;
  }

  @Override
  public void close() {
    if ((long) width * type.bytes() > MAX_KEPT) {
      staging = new Staging();
    }
    POOL.giveBack(this);
  }
}
