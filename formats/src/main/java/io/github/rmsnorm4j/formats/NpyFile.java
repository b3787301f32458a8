package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A NumPy array in a {@code .npy} file of version 1, 2 or 3: float16, float32 or float64, of either
 * byte order, in C or Fortran order. Integers, complex numbers, structures and Python objects are
 * refused.
 */
public final class NpyFile extends SingleFile {
  /** Far more than {@link Tensor#MAX_AXES} axes need, and little memory. */
  private static final long LONGEST_LITERAL = 1 << 20;

  private final NpyHeader header;

  /** What stands before the data of a file, and how many bytes it has. */
  private record Preamble(NpyHeader header, Tensor tensor, long bytes) {}

  NpyFile(StoredBytes bytes) throws IOException {
    this(bytes, preamble(bytes));
  }

  private NpyFile(StoredBytes bytes, Preamble preamble) throws IOException {
    super(bytes, preamble.bytes, new LinkedHashMap<>(Map.of("", new Entry(preamble.tensor, 0))));
    header = preamble.header;
    checkSize(preamble.tensor);
  }

  private static Preamble preamble(StoredBytes bytes) throws IOException {
    int major = Byte.toUnsignedInt(littleEndian(bytes, 6, 2).get(0));
    int minor = Byte.toUnsignedInt(littleEndian(bytes, 6, 2).get(1));
    if (major < 1 || major > 3 || minor != 0) {
      throw new FormatException(
          bytes.path,
          "is .npy of version %s.%s, known are 1.0, 2.0 and 3.0".formatted(major, minor));
    }
    int prefix = major == 1 ? NpyHeader.SHORT_PREFIX : NpyHeader.LONG_PREFIX;
    long length =
        major == 1
            ? Short.toUnsignedLong(littleEndian(bytes, 8, 2).getShort())
            : Integer.toUnsignedLong(littleEndian(bytes, 8, 4).getInt());
    if (length > LONGEST_LITERAL) {
      throw new FormatException(
          bytes.path,
          "has a header of %s bytes, at most %s are read".formatted(length, LONGEST_LITERAL));
    }
    bytes.requireHeader(prefix, length);
    byte[] literal = littleEndian(bytes, prefix, (int) length).array();
    try {
      String text = new String(literal, major < 3 ? ISO_8859_1 : UTF_8);
      NpyHeader header = NpyHeaderParser.parse(text, major < 3);
      Tensor tensor = new Tensor("", header.dtype(), header.shape());
      return new Preamble(header, tensor, prefix + length);
    } catch (NpyHeaderParser.SyntaxException e) {
      throw new FormatException(bytes.path, "the .npy header " + e.getMessage());
    } catch (IllegalArgumentException e) {
      throw new FormatException(bytes.path, e.getMessage());
    }
  }

  private static ByteBuffer littleEndian(StoredBytes bytes, long position, int length)
      throws IOException {
    if (position + length > bytes.size) {
      throw new FormatException(bytes.path, "ends within the .npy header: it is truncated");
    }
    byte[] read = new byte[length];
    bytes.readFully(position, MemorySegment.ofArray(read));
    return ByteBuffer.wrap(read).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** NumPy ignores bytes after the array. They are refused, so that they are not lost. */
  private void checkSize(Tensor tensor) throws FormatException {
    long held = bytes.size - dataStart;
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
  public Map<String, String> metadata() {
    return Map.of();
  }

  @Override
  void readElements(Tensor wanted, long first, long count, MemorySegment into) throws IOException {
    int elementBytes = wanted.dtype().bits() / 8;
    if (header.fortranOrder()) {
      new FortranGather(bytes, start(wanted), wanted).read(first, count, into);
    } else {
      bytes.readFully(start(wanted) + first * elementBytes, into);
    }
    ByteOrders.toNative(into, elementBytes, header.order());
  }
}
