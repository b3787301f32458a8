package io.github.rmsnorm4j.models.transformer;

import java.lang.foreign.MemorySegment;

/** The keys, or the values, of one sequence so far: each pass adds those of its tokens. */
final class KeyValueCache {
  private final int headWidth;

  /** (P, K * h). */
  private final Matrix rows;

  KeyValueCache(Setup setup) {
    headWidth = setup.config().headWidth();
    rows = setup.allocate(setup.positions().capacity, setup.config().keyValueHeads() * headWidth);
  }

  /** Copies the rows of a pass behind the first {@code past} ones. */
  void add(int past, Matrix pass) {
    long bytes = pass.elements() * Float.BYTES;
    long first = (long) past * rows.columns * Float.BYTES;
    MemorySegment.copy(pass.segment, 0, rows.segment, first, bytes);
  }

  /** The first so many rows of a head, a view. */
  Matrix head(int head, int count) {
    return rows.block(0, head * headWidth, count, headWidth);
  }
}
