package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;

/**
 * A NumPy array in a {@code .npy} file of version 1, 2 or 3: float16, float32 or float64, of either
 * byte order, in C order, or up to 1 GiB in Fortran order, which is read into memory as a whole.
 * Integers, complex numbers, structures and Python objects are refused.
 */
public final class NpyFile extends TensorFile {
  /** Far more than {@link Tensor#MAX_AXES} axes need, and little memory. */
  private static final long LONGEST_LITERAL = 1 << 20;

  private static final long LARGEST_FORTRAN = 1 << 30;

  private final boolean isFortran;

  /** All bytes, if the first axis is the one that varies fastest in the file; read when needed. */
  private MemorySegment fortran;

  private NpyFile(StoredBytes bytes, Place place, boolean isFortran) {
    super(bytes.path, List.of(bytes), Map.of("", place), Map.of());
    this.isFortran = isFortran;
  }

  static NpyFile of(StoredBytes bytes) throws IOException {
    ByteBuffer start =
        ByteBuffer.wrap(bytes.start(NpyHeader.LONG_PREFIX)).order(ByteOrder.LITTLE_ENDIAN);
    requireStart(bytes, NpyHeader.MAGIC.length + 2);
    int major = Byte.toUnsignedInt(start.get(6));
    int minor = Byte.toUnsignedInt(start.get(7));
    if (major < 1 || major > 3 || minor != 0) {
      throw bytes.wrong("is .npy of version %s.%s, known are 1.0, 2.0 and 3.0", major, minor);
    }
    int prefix = major == 1 ? NpyHeader.SHORT_PREFIX : NpyHeader.LONG_PREFIX;
    requireStart(bytes, prefix);
    long length =
        major == 1
            ? Short.toUnsignedInt(start.getShort(8))
            : Integer.toUnsignedLong(start.getInt(8));
    if (length > LONGEST_LITERAL) {
      throw bytes.wrong("has a header of %s bytes, at most %s are read", length, LONGEST_LITERAL);
    }
    bytes.requireHeader(prefix, length);
    byte[] literal = new byte[(int) length];
    bytes.readFully(prefix, MemorySegment.ofArray(literal));
    return of(
        bytes, new String(literal, major < 3 ? ISO_8859_1 : UTF_8), major < 3, prefix + length);
  }

  private static void requireStart(StoredBytes bytes, int length) throws FormatException {
    if (bytes.size < length) {
      throw bytes.wrong("ends within the .npy header: it is truncated");
    }
  }

  private static NpyFile of(StoredBytes bytes, String literal, boolean oldLongs, long dataStart)
      throws FormatException {
    NpyHeader header;
    try {
      header = NpyHeader.parse(literal, oldLongs);
    } catch (IllegalArgumentException e) {
      throw bytes.wrong("the .npy header %s", e.getMessage());
    }
    Tensor tensor = bytes.tensor("", header.dtype(), header.shape());
    checkSize(bytes, tensor, bytes.size - dataStart);
    // With one axis of more than one element, or without elements, the orders are the same.
    boolean isFortran =
        header.fortranOrder()
            && tensor.elements() > 0
            && tensor.shape().stream().filter(axis -> axis > 1).count() > 1;
    NpyFile file =
        new NpyFile(bytes, new Place(tensor, bytes, dataStart, header.order()), isFortran);
    if (isFortran && tensor.bytes() > LARGEST_FORTRAN) {
      throw file.tooLarge(tensor);
    }
    return file;
  }

  /** NumPy ignores bytes after the array. They are refused, so that they are not lost. */
  private static void checkSize(StoredBytes bytes, Tensor tensor, long held)
      throws FormatException {
    if (held < tensor.bytes()) {
      throw bytes.wrong(
          "is truncated: %s needs %s bytes of data, the file has %s", tensor, tensor.bytes(), held);
    }
    if (held > tensor.bytes()) {
      throw bytes.wrong("has %s bytes after the data of %s", held - tensor.bytes(), tensor);
    }
  }

  private FormatException tooLarge(Tensor tensor) {
    return wrong(
        "has %s bytes in Fortran order, more than fit into memory: in NumPy, save"
            + " numpy.ascontiguousarray(x)",
        tensor.bytes());
  }

  @Override
  void readElements(Tensor tensor, long first, long count, MemorySegment into) throws IOException {
    if (isFortran) {
      gather(tensor, first, into);
    } else {
      super.readElements(tensor, first, count, into);
    }
  }

  private synchronized MemorySegment fortran(Tensor tensor) throws IOException {
    if (fortran == null) {
      MemorySegment all;
      try {
        all = Arena.ofAuto().allocate(tensor.bytes(), Long.BYTES);
      } catch (OutOfMemoryError ignored) {
        throw tooLarge(tensor);
      }
      super.readElements(tensor, 0, tensor.elements(), all);
      fortran = all;
    }
    return fortran;
  }

  /** Fills a segment with elements in C order, from one of them on. */
  private void gather(Tensor tensor, long first, MemorySegment into) throws IOException {
    MemorySegment from = fortran(tensor);
    int bytes = tensor.dtype().bits() / 8;
    int last = tensor.shape().size() - 1;
    long[] stride = new long[last + 1];
    long[] index = new long[last + 1];
    long at = 0;
    for (int axis = 0; axis <= last; axis++) {
      stride[axis] = axis == 0 ? bytes : stride[axis - 1] * tensor.shape().get(axis - 1);
      long width = tensor.width(axis);
      index[axis] = first % width / (width / tensor.shape().get(axis));
      at += index[axis] * stride[axis];
    }
    for (long to = 0; to < into.byteSize(); to += bytes) {
      MemorySegment.copy(from, at, into, to, bytes);
      int axis = last;
      for (; axis > 0 && index[axis] == tensor.shape().get(axis) - 1; axis--) {
        at -= index[axis] * stride[axis];
        index[axis] = 0;
      }
      index[axis]++;
      at += stride[axis];
    }
  }
}
