package io.github.rmsnorm4j.cli.compare;

import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.MemorySegment;

/**
 * Tensor operations as an eager framework runs them: each is one pass over memory, makes a whole
 * tensor, and rounds it to the tensors' type. It counts what it reads and writes.
 */
final class Eager {
  private static final ThreadLocal<Narrow> NARROW = ThreadLocal.withInitial(Narrow::new);

  private final ElementType type;
  private final int rows;
  private final int width;
  private final Crew crew;
  private final Tensors tensors;
  private int passes;
  private int operations;

  /** On a run of elements of a row; places are in bytes. */
  private interface Elementwise {
    void run(
        MemorySegment a,
        MemorySegment b,
        long from,
        MemorySegment out,
        long at,
        int n,
        int row,
        int column);
  }

  /** Adds up a run of elements of a row. */
  private interface Sum {
    void run(MemorySegment a, long from, int n, int row, int column);
  }

  Eager(Subject subject, Crew crew, Tensors tensors) {
    type = subject.type();
    rows = subject.shape().rows();
    width = subject.shape().width();
    this.crew = crew;
    this.tensors = tensors;
  }

  /** What has been done to each element since this was asked before. */
  Work work() {
    Work done = new Work(passes, operations);
    passes = 0;
    operations = 0;
    return done;
  }

  /** It is wanted no more: its memory is that of the next result. */
  void free(MemorySegment tensor) {
    tensors.giveBack(tensor);
  }

  MemorySegment square(MemorySegment a) {
    return elementwise(
        a, a, (x, y, i, out, at, n, r, c) -> Vectors.multiply(x, i, x, i, out, at, n));
  }

  MemorySegment multiply(MemorySegment a, MemorySegment b) {
    return elementwise(
        a, b, (x, y, i, out, at, n, r, c) -> Vectors.multiply(x, i, y, i, out, at, n));
  }

  MemorySegment add(MemorySegment a, MemorySegment b) {
    return elementwise(a, b, (x, y, i, out, at, n, r, c) -> Vectors.add(x, i, y, i, out, at, n));
  }

  /** Each row times its number. */
  MemorySegment scale(MemorySegment a, float[] by) {
    return elementwise(a, a, (x, y, i, out, at, n, r, c) -> Vectors.scale(x, i, by[r], out, at, n));
  }

  /** Each row less its number. */
  MemorySegment subtract(MemorySegment a, float[] of) {
    return elementwise(
        a, a, (x, y, i, out, at, n, r, c) -> Vectors.shift(x, i, -of[r], out, at, n));
  }

  /** Each column times its number. */
  MemorySegment scaleColumns(MemorySegment a, float[] by) {
    return elementwise(
        a, a, (x, y, i, out, at, n, r, c) -> Vectors.scaleColumns(x, i, by, c, out, at, n));
  }

  /** Each column and its number. */
  MemorySegment shiftColumns(MemorySegment a, float[] by) {
    return elementwise(
        a, a, (x, y, i, out, at, n, r, c) -> Vectors.shiftColumns(x, i, by, c, out, at, n));
  }

  /** The sum of each row. Added in float32, whatever the type, and rounded to it. */
  float[] rowSums(MemorySegment a) {
    float[] sums = new float[rows];
    reduce(a, (from, to) -> sum(a, from, to, (x, i, n, r, c) -> sums[r] += Vectors.sum(x, i, n)));
    for (int r = 0; r < rows; r++) {
      sums[r] = rounded(sums[r]);
    }
    return sums;
  }

  /** The mean of each row. */
  float[] rowMeans(MemorySegment a) {
    float[] means = new float[rows];
    reduce(a, (from, to) -> sum(a, from, to, (x, i, n, r, c) -> means[r] += Vectors.sum(x, i, n)));
    for (int r = 0; r < rows; r++) {
      means[r] = rounded(means[r] / width);
    }
    return means;
  }

  /** The sum of each column. */
  float[] columnSums(MemorySegment a) {
    float[] sums = new float[width];
    reduce(
        a,
        (from, to) -> {
          float[] part = new float[width];
          sum(a, from, to, (x, i, n, r, c) -> Vectors.addToColumns(x, i, part, c, n));
          synchronized (sums) {
            for (int i = 0; i < width; i++) {
              sums[i] += part[i];
            }
          }
        });
    for (int i = 0; i < width; i++) {
      sums[i] = rounded(sums[i]);
    }
    return sums;
  }

  /** As the type holds it, which every result of an operation is. */
  float rounded(float value) {
    return (float) type.round(value);
  }

  private MemorySegment elementwise(MemorySegment a, MemorySegment b, Elementwise operation) {
    int moved = a == b ? 2 : 3;
    passes += moved;
    operations++;
    MemorySegment out = tensors.take();
    crew.run(
        rows,
        moved * out.byteSize(),
        (from, to) -> {
          for (int row = from; row < to; row++) {
            row(a, b, out, row, operation);
          }
        });
    return out;
  }

  private void row(
      MemorySegment a, MemorySegment b, MemorySegment out, int row, Elementwise operation) {
    long start = (long) row * width * type.bytes();
    if (type == ElementType.FLOAT32) {
      operation.run(a, b, start, out, start, width, row, 0);
      return;
    }
    Narrow block = NARROW.get();
    for (int column = 0; column < width; column += Narrow.BLOCK) {
      int n = Math.min(Narrow.BLOCK, width - column);
      long at = start + (long) column * type.bytes();
      block.decode(type, a, at, block.left, n);
      if (a != b) {
        block.decode(type, b, at, block.right, n);
      }
      operation.run(block.left, block.right, 0, block.left, 0, n, row, column);
      block.encode(type, block.left, out, at, n);
    }
  }

  private void reduce(MemorySegment a, Crew.Rows work) {
    passes++;
    operations++;
    crew.run(rows, a.byteSize(), work);
  }

  private void sum(MemorySegment a, int from, int to, Sum sum) {
    for (int row = from; row < to; row++) {
      long start = (long) row * width * type.bytes();
      if (type == ElementType.FLOAT32) {
        sum.run(a, start, width, row, 0);
        continue;
      }
      Narrow block = NARROW.get();
      for (int column = 0; column < width; column += Narrow.BLOCK) {
        int n = Math.min(Narrow.BLOCK, width - column);
        block.decode(type, a, start + (long) column * type.bytes(), block.left, n);
        sum.run(block.left, 0, n, row, column);
      }
    }
  }
}
