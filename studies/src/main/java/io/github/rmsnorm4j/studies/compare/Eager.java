package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.MemorySegment;

/** Operations on this processor, each a vector loop over all rows. */
final class Eager implements Operations<MemorySegment, float[]> {
  private static final ThreadLocal<Narrow> NARROW = ThreadLocal.withInitial(Narrow::new);

  private final ElementType type;
  private final int rows;
  private final int width;
  private final Crew crew;
  private final Tensors tensors;
  private final WorkCount count = new WorkCount();

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

  @Override
  public Work work() {
    return count.take();
  }

  @Override
  public float[] columns(float[] values) {
    return values;
  }

  @Override
  public float[] values(float[] columns) {
    return columns;
  }

  @Override
  public void free(MemorySegment tensor) {
    tensors.giveBack(tensor);
  }

  @Override
  public void forgetRows(float[] numbers) {
    // The garbage collector takes them.
  }

  @Override
  public void forgetColumns(float[] numbers) {
    // The garbage collector takes them.
  }

  @Override
  public MemorySegment square(MemorySegment a) {
    return elementwise(
        a, a, (x, y, i, out, at, n, r, c) -> Vectors.multiply(x, i, x, i, out, at, n));
  }

  @Override
  public MemorySegment multiply(MemorySegment a, MemorySegment b) {
    return elementwise(
        a, b, (x, y, i, out, at, n, r, c) -> Vectors.multiply(x, i, y, i, out, at, n));
  }

  @Override
  public MemorySegment add(MemorySegment a, MemorySegment b) {
    return elementwise(a, b, (x, y, i, out, at, n, r, c) -> Vectors.add(x, i, y, i, out, at, n));
  }

  @Override
  public MemorySegment scale(MemorySegment a, float[] by) {
    return elementwise(a, a, (x, y, i, out, at, n, r, c) -> Vectors.scale(x, i, by[r], out, at, n));
  }

  @Override
  public MemorySegment subtract(MemorySegment a, float[] of) {
    return elementwise(
        a, a, (x, y, i, out, at, n, r, c) -> Vectors.shift(x, i, -of[r], out, at, n));
  }

  @Override
  public MemorySegment scaleColumns(MemorySegment a, float[] by) {
    return elementwise(
        a, a, (x, y, i, out, at, n, r, c) -> Vectors.scaleColumns(x, i, by, c, out, at, n));
  }

  @Override
  public MemorySegment shiftColumns(MemorySegment a, float[] by) {
    return elementwise(
        a, a, (x, y, i, out, at, n, r, c) -> Vectors.shiftColumns(x, i, by, c, out, at, n));
  }

  /** Added in float32, whatever the type, and rounded to it. */
  @Override
  public float[] rowSums(MemorySegment a) {
    float[] sums = new float[rows];
    reduce(a, (from, to) -> sum(a, from, to, (x, i, n, r, c) -> sums[r] += Vectors.sum(x, i, n)));
    for (int r = 0; r < rows; r++) {
      sums[r] = rounded(sums[r]);
    }
    return sums;
  }

  @Override
  public float[] rowMeans(MemorySegment a) {
    float[] means = new float[rows];
    reduce(a, (from, to) -> sum(a, from, to, (x, i, n, r, c) -> means[r] += Vectors.sum(x, i, n)));
    for (int r = 0; r < rows; r++) {
      means[r] = rounded(means[r] / width);
    }
    return means;
  }

  @Override
  public float[] columnSums(MemorySegment a) {
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

  @Override
  public float[] rstd(float[] variances, double epsilon) {
    for (int r = 0; r < variances.length; r++) {
      float sum = rounded(variances[r] + (float) epsilon);
      variances[r] = rounded((float) (1 / Math.sqrt(sum)));
    }
    return variances;
  }

  @Override
  public float[] throughRoot(float[] gradients, float[] rstd) {
    for (int r = 0; r < gradients.length; r++) {
      float cube = rstd[r] * rstd[r] * rstd[r];
      gradients[r] = rounded(-gradients[r] * cube / width);
    }
    return gradients;
  }

  /** As the type holds it, which every result of an operation is. */
  private float rounded(float value) {
    return (float) type.round(value);
  }

  private MemorySegment elementwise(MemorySegment a, MemorySegment b, Elementwise operation) {
    int moved = a == b ? 2 : 3;
    count.add(moved);
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
    count.add(1);
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
