package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * A {@code .safetensors} file. Its header is checked as strictly as the format asks: every name
 * occurs once, every tensor has as many bytes as its type and shape need, and the tensors cover the
 * data without gap or overlap.
 */
public final class SafetensorsFile extends TensorFile {
  /** The limit of the reference implementation. */
  private static final long LONGEST_HEADER = 100_000_000;

  private static final int LENGTH_BYTES = 8;

  /** The position of the first byte of the data. */
  private final long dataStart;

  private SafetensorsFile(StoredBytes bytes, long dataStart, SafetensorsHeader header)
      throws IOException {
    super(bytes.path, List.of(bytes), header.places, header.metadata());
    this.dataStart = dataStart;
    checkCover(bytes);
  }

  static SafetensorsFile of(StoredBytes bytes) throws IOException {
    long dataStart = LENGTH_BYTES + requiredLength(bytes);
    return new SafetensorsFile(
        bytes, dataStart, SafetensorsHeader.read(bytes, LENGTH_BYTES, dataStart));
  }

  /** Whether a file begins as these do, and as no other file that is known here. */
  static boolean isLikely(StoredBytes bytes) throws IOException {
    long length = headerLength(bytes);
    return bytes.start(LENGTH_BYTES + 1)[LENGTH_BYTES] == '{'
        && length >= 0
        && length <= LONGEST_HEADER;
  }

  private static long headerLength(StoredBytes bytes) throws IOException {
    return ByteBuffer.wrap(bytes.start(LENGTH_BYTES)).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }

  private static long requiredLength(StoredBytes bytes) throws IOException {
    if (bytes.size < LENGTH_BYTES) {
      throw bytes.wrong("has %s bytes, a .safetensors file has at least 8", bytes.size);
    }
    long length = headerLength(bytes);
    if (length < 0 || length > LONGEST_HEADER) {
      String start = new String(bytes.start(LENGTH_BYTES), ISO_8859_1);
      if (start.chars().allMatch(c -> c >= ' ' && c <= '~' || c == '\n')) {
        throw bytes.wrong(
            "is text that begins with '%s', no .safetensors file: download it again", start);
      }
      throw bytes.wrong(
          "has a header of %s bytes, at most %s are allowed (or this is no .safetensors file)",
          Long.toUnsignedString(length), LONGEST_HEADER);
    }
    bytes.requireHeader(LENGTH_BYTES, length);
    return length;
  }

  /** Sorted by offset, the tensors must follow each other from the first byte of the data. */
  private void checkCover(StoredBytes bytes) throws FormatException {
    long covered = dataStart;
    for (Place place : byPlace()) {
      if (place.start() != covered) {
        throw bytes.wrongTensor(
            place.tensor().name(),
            place.start() < covered
                ? "begins at byte %s, which overlaps the tensor before it that ends at %s"
                : "begins at byte %s, and bytes %s on belong to no tensor",
            place.start() - dataStart,
            covered - dataStart);
      }
      covered = place.end();
    }
    if (covered > bytes.size) {
      throw wrong(
          "is truncated: its tensors need %s bytes of data, the file has %s",
          covered - dataStart, bytes.size - dataStart);
    }
    if (covered < bytes.size) {
      throw wrong("has %s bytes after its last tensor", bytes.size - covered);
    }
  }

  /** All bytes before the data, and the tensors in the order of the data. */
  SafetensorsLayout layout() throws IOException {
    byte[] head = sources().getFirst().start((int) dataStart);
    return new SafetensorsLayout(head, byPlace().stream().map(Place::tensor).toList());
  }
}
