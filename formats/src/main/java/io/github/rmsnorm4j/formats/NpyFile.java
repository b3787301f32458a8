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

  private final NpyHeader header;

  /** All bytes, if the first axis is the one that varies fastest in the file; read when needed. */
  private MemorySegment fortran;

  NpyFile(StoredBytes bytes) throws IOException {
    this(bytes, preamble(bytes));
  }

  /** What stands before the data of a file, and how many bytes it has. */
  private record Preamble(NpyHeader header, Tensor tensor, long bytes) {}

  private NpyFile(StoredBytes bytes, Preamble preamble) throws IOException {
    super(
        bytes.path, List.of(bytes), Map.of("", new Place(preamble.tensor, bytes, preamble.bytes)));
    header = preamble.header;
    checkSize(preamble.tensor, bytes.size - preamble.bytes);
  }

  private static Preamble preamble(StoredBytes bytes) throws IOException {
    int major = littleEndian(bytes, 6, 1);
    int minor = littleEndian(bytes, 7, 1);
    if (major < 1 || major > 3 || minor != 0) {
      throw bytes.wrong("is .npy of version %s.%s, known are 1.0, 2.0 and 3.0", major, minor);
    }
    int prefix = major == 1 ? NpyHeader.SHORT_PREFIX : NpyHeader.LONG_PREFIX;
    long length = Integer.toUnsignedLong(littleEndian(bytes, 8, prefix - 8));
    if (length > LONGEST_LITERAL) {
      throw bytes.wrong("has a header of %s bytes, at most %s are read", length, LONGEST_LITERAL);
    }
    bytes.requireHeader(prefix, length);
    byte[] literal = new byte[(int) length];
    bytes.readFully(prefix, MemorySegment.ofArray(literal));
    try {
      NpyHeader header =
          NpyHeaderParser.parse(new String(literal, major < 3 ? ISO_8859_1 : UTF_8), major < 3);
      return new Preamble(
          header, bytes.tensor("", header.dtype(), header.shape()), prefix + length);
    } catch (IllegalArgumentException e) {
      throw bytes.wrong("the .npy header %s", e.getMessage());
    }
  }

  private static int littleEndian(StoredBytes bytes, int position, int length) throws IOException {
    if (position + length > bytes.size) {
      throw bytes.wrong("ends within the .npy header: it is truncated");
    }
    byte[] read = new byte[Integer.BYTES];
    bytes.readFully(position, MemorySegment.ofArray(read).asSlice(0, length));
    return ByteBuffer.wrap(read).order(ByteOrder.LITTLE_ENDIAN).getInt();
  }

  /** NumPy ignores bytes after the array. They are refused, so that they are not lost. */
  private void checkSize(Tensor tensor, long held) throws FormatException {
    if (held < tensor.bytes()) {
      throw wrong(
          "is truncated: %s needs %s bytes of data, the file has %s", tensor, tensor.bytes(), held);
    }
    if (held > tensor.bytes()) {
      throw wrong("has %s bytes after the data of %s", held - tensor.bytes(), tensor);
    }
    if (isFortran(tensor) && held > LARGEST_FORTRAN) {
      throw tooLarge(tensor);
    }
  }

  private FormatException tooLarge(Tensor tensor) {
    return wrong(
        "has %s bytes in Fortran order, more than fit into memory: in NumPy, save"
            + " numpy.ascontiguousarray(x)",
        tensor.bytes());
  }

  /** With one axis of more than one element, or without elements, the orders are the same. */
  private boolean isFortran(Tensor tensor) {
    return header.fortranOrder()
        && tensor.elements() > 0
        && tensor.shape().stream().filter(length -> length > 1).count() > 1;
  }

  @Override
  public Map<String, String> metadata() {
    return Map.of();
  }

  @Override
  void readElements(Tensor tensor, long first, long count, MemorySegment into) throws IOException {
    if (isFortran(tensor)) {
      gather(tensor, first, into);
    } else {
      readElements(tensor, first, header.order(), into);
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
      readElements(tensor, 0, header.order(), all);
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
