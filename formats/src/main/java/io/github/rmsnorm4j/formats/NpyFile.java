package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;

/**
 * A NumPy array in a {@code .npy} file of version 1, 2 or 3: float16, float32 or float64, of either
 * byte order, in C or Fortran order. Integers, complex numbers, structures and Python objects are
 * refused.
 */
public final class NpyFile extends TensorFile {
  /** Far more than {@link Tensor#MAX_AXES} axes need, and little memory. */
  private static final long LONGEST_LITERAL = 1 << 20;

  private final StoredBytes bytes;
  private final NpyHeader header;
  private final Tensor tensor;
  private final long dataStart;

  NpyFile(StoredBytes bytes) throws IOException {
    super(bytes.path());
    this.bytes = bytes;
    int major = Byte.toUnsignedInt(littleEndian(6, 2).get(0));
    int minor = Byte.toUnsignedInt(littleEndian(6, 2).get(1));
    if (major < 1 || major > 3 || minor != 0) {
      throw new FormatException(
          path(), "is .npy of version %s.%s, known are 1.0, 2.0 and 3.0".formatted(major, minor));
    }
    int prefix = major == 1 ? NpyHeader.SHORT_PREFIX : NpyHeader.LONG_PREFIX;
    long length =
        major == 1
            ? Short.toUnsignedLong(littleEndian(8, 2).getShort())
            : Integer.toUnsignedLong(littleEndian(8, 4).getInt());
    if (length > LONGEST_LITERAL) {
      throw new FormatException(
          path(),
          "has a header of %s bytes, at most %s are read".formatted(length, LONGEST_LITERAL));
    }
    if (length > bytes.size() - prefix) {
      throw new FormatException(
          path(),
          "has a header of %s bytes, which is longer than the file of %s"
              .formatted(length, bytes.size()));
    }
    dataStart = prefix + length;
    header = parse(littleEndian(prefix, (int) length).array(), major);
    tensor = describe();
    checkSize();
  }

  private ByteBuffer littleEndian(long position, int length) throws IOException {
    if (position + length > bytes.size()) {
      throw new FormatException(path(), "ends within the .npy header: it is truncated");
    }
    byte[] read = new byte[length];
    bytes.readFully(position, MemorySegment.ofArray(read));
    return ByteBuffer.wrap(read).order(ByteOrder.LITTLE_ENDIAN);
  }

  private NpyHeader parse(byte[] literal, int major) throws FormatException {
    try {
      return NpyHeaderParser.parse(new String(literal, major < 3 ? ISO_8859_1 : UTF_8), major < 3);
    } catch (NpyHeaderParser.SyntaxException e) {
      throw new FormatException(path(), "the .npy header " + e.getMessage());
    }
  }

  private Tensor describe() throws FormatException {
    try {
      return new Tensor("", header.dtype(), header.shape());
    } catch (IllegalArgumentException e) {
      throw new FormatException(path(), e.getMessage());
    }
  }

  /** NumPy ignores bytes after the array. They are refused, so that they are not lost. */
  private void checkSize() throws FormatException {
    long held = bytes.size() - dataStart;
    if (held < tensor.bytes()) {
      throw new FormatException(
          path(),
          "is truncated: %s needs %s bytes of data, the file has %s"
              .formatted(tensor, tensor.bytes(), held));
    }
    if (held > tensor.bytes()) {
      throw new FormatException(
          path(), "has %s bytes after the data of %s".formatted(held - tensor.bytes(), tensor));
    }
  }

  @Override
  public List<Tensor> tensors() {
    return List.of(tensor);
  }

  @Override
  public Map<String, String> metadata() {
    return Map.of();
  }

  /** Whether the file stores the first axis as the one that varies fastest. */
  boolean fortranOrder() {
    return header.fortranOrder();
  }

  @Override
  StoredBytes bytes(Tensor wanted) {
    return bytes;
  }

  @Override
  long start(Tensor wanted) {
    if (!wanted.equals(tensor)) {
      throw notOfThisFile(wanted);
    }
    return dataStart;
  }

  @Override
  void readElements(Tensor wanted, long first, long count, MemorySegment into) throws IOException {
    long start = start(wanted);
    int elementBytes = tensor.dtype().bits() / 8;
    if (header.fortranOrder()) {
      new FortranGather(bytes, start, tensor).read(first, count, into);
    } else {
      bytes.readFully(start + first * elementBytes, into);
    }
    ByteOrders.toNative(into, elementBytes, header.order());
  }

  @Override
  public void close() throws IOException {
    bytes.close();
  }
}
