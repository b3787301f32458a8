package io.github.rmsnorm4j.formats;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Reads a range of a tensor in C order from a file that stores it in Fortran order (first axis
 * fastest), through a window of fixed size.
 *
 * <p>The range is cut into boxes. In a box some leading axes are fixed, one axis has a span, and
 * all axes after it are whole. A box is read in the order of the file, as lines along its span. The
 * lines of a box are evenly spaced in the file.
 */
final class FortranGather {
  private static final int WINDOW_BYTES = 256 << 10;

  /** Elements further apart than this are read one by one, nearer ones together with the gap. */
  private static final int FAR_BYTES = 4096;

  private final StoredBytes bytes;
  private final long start;
  private final int elementBytes;
  private final long[] shape;

  /** Elements between neighbours along an axis, in the target and in the file. */
  private final long[] stride;

  private final long[] fileStride;

  private MemorySegment window;
  private long windowFirst;
  private long windowEnd;

  FortranGather(StoredBytes bytes, long start, Tensor tensor) {
    this.bytes = bytes;
    this.start = start;
    this.elementBytes = tensor.dtype().bits() / 8;
    List<Long> lengths = tensor.shape().isEmpty() ? List.of(1L) : tensor.shape();
    this.shape = lengths.stream().mapToLong(Long::longValue).toArray();
    this.stride = new long[shape.length];
    this.fileStride = new long[shape.length];
    fileStride[0] = 1;
    for (int axis = 1; axis < shape.length; axis++) {
      fileStride[axis] = fileStride[axis - 1] * shape[axis - 1];
    }
    stride[shape.length - 1] = 1;
    for (int axis = shape.length - 1; axis > 0; axis--) {
      stride[axis - 1] = stride[axis] * shape[axis];
    }
  }

  /** Writes {@code count} elements from {@code first} on, in the file's byte order. */
  void read(long first, long count, MemorySegment into) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      window = arena.allocate(WINDOW_BYTES, 8);
      windowFirst = 0;
      windowEnd = 0;
      long end = first + count;
      for (long at = first; at < end; ) {
        int axis = 0;
        while (at % stride[axis] != 0 || stride[axis] > end - at) {
          axis++;
        }
        long span = Math.min(shape[axis] - index(at, axis), (end - at) / stride[axis]);
        readBox(at, axis, span, into, at - first);
        at += span * stride[axis];
      }
    }
  }

  private long index(long element, int axis) {
    return element / stride[axis] % shape[axis];
  }

  /** Reads the box that begins at an element and spans part of an axis and all axes after it. */
  private void readBox(long element, int axis, long span, MemorySegment into, long target)
      throws IOException {
    long source = 0;
    for (int a = 0; a <= axis; a++) {
      source += index(element, a) * fileStride[a];
    }
    long lines = stride[axis];
    long lineStride = axis + 1 < shape.length ? fileStride[axis + 1] : 0;
    long lineLength = (span - 1) * fileStride[axis] + 1;
    boolean linesAreNear = (lineStride - lineLength) * elementBytes <= FAR_BYTES;
    long boxEnd = source + (lines - 1) * lineStride + lineLength;
    long[] inner = new long[shape.length];
    for (long line = 0; line < lines; line++) {
      long lineEnd = source + lineLength;
      readLine(source, axis, span, linesAreNear ? boxEnd : lineEnd, into, target);
      source += lineStride;
      target = nextLine(inner, axis, target);
    }
  }

  /** Steps through the axes after {@code axis} in the file's order, the first of them fastest. */
  private long nextLine(long[] inner, int axis, long target) {
    for (int a = axis + 1; a < shape.length; a++) {
      target += stride[a];
      if (++inner[a] < shape[a]) {
        return target;
      }
      target -= shape[a] * stride[a];
      inner[a] = 0;
    }
    return target;
  }

  private void readLine(
      long source, int axis, long span, long usefulEnd, MemorySegment into, long target)
      throws IOException {
    long step = fileStride[axis];
    for (long done = 0; done < span; ) {
      long at = source + done * step;
      if (at < windowFirst || at >= windowEnd) {
        boolean far = step * elementBytes > FAR_BYTES;
        load(at, far ? 1 : Math.min(usefulEnd - at, WINDOW_BYTES / elementBytes));
      }
      long held = Math.min(span - done, (windowEnd - 1 - at) / step + 1);
      scatter(at - windowFirst, step, held, into, target + done * stride[axis], stride[axis]);
      done += held;
    }
  }

  private void load(long first, long count) throws IOException {
    bytes.readFully(start + first * elementBytes, window.asSlice(0, count * elementBytes));
    windowFirst = first;
    windowEnd = first + count;
  }

  private void scatter(long from, long step, long count, MemorySegment into, long to, long toStep) {
    long source = from * elementBytes;
    long target = to * elementBytes;
    for (long i = 0; i < count; i++) {
      switch (elementBytes) {
        case 2 -> into.set(JAVA_SHORT_UNALIGNED, target, window.get(JAVA_SHORT_UNALIGNED, source));
        case 4 -> into.set(JAVA_INT_UNALIGNED, target, window.get(JAVA_INT_UNALIGNED, source));
        default -> into.set(JAVA_LONG_UNALIGNED, target, window.get(JAVA_LONG_UNALIGNED, source));
      }
      source += step * elementBytes;
      target += toStep * elementBytes;
    }
  }
}
