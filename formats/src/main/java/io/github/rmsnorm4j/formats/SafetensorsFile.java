package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;

/**
 * A {@code .safetensors} file. Its header is checked as strictly as the format asks: every name
 * occurs once, every tensor has as many bytes as its type and shape need, and the tensors cover the
 * data without gap or overlap.
 */
public final class SafetensorsFile extends SingleFile {
  /** The limit of the reference implementation. */
  private static final long LONGEST_HEADER = 100_000_000;

  private static final int LENGTH_BYTES = 8;

  private final Map<String, String> metadata;

  SafetensorsFile(StoredBytes bytes) throws IOException {
    this(bytes, headerLength(bytes));
  }

  private SafetensorsFile(StoredBytes bytes, long headerLength) throws IOException {
    this(bytes, headerLength, SafetensorsHeader.read(bytes, LENGTH_BYTES, headerLength));
  }

  private SafetensorsFile(StoredBytes bytes, long headerLength, SafetensorsHeader header)
      throws IOException {
    super(bytes, LENGTH_BYTES + headerLength, header.entries);
    metadata = header.metadata == null ? Map.of() : header.metadata;
    checkCover();
  }

  private static long headerLength(StoredBytes bytes) throws IOException {
    if (bytes.size < LENGTH_BYTES) {
      throw new FormatException(
          bytes.path, "has %s bytes, a .safetensors file has at least 8".formatted(bytes.size));
    }
    long headerLength =
        ByteBuffer.wrap(bytes.start(LENGTH_BYTES)).order(ByteOrder.LITTLE_ENDIAN).getLong();
    if (headerLength < 0 || headerLength > LONGEST_HEADER) {
      throw new FormatException(
          bytes.path,
          "has a header of %s bytes, at most %s are allowed (or this is no .safetensors file)"
              .formatted(Long.toUnsignedString(headerLength), LONGEST_HEADER));
    }
    bytes.requireHeader(LENGTH_BYTES, headerLength);
    return headerLength;
  }

  /** Sorted by offset, the tensors must follow each other from the first byte of the data. */
  private void checkCover() throws FormatException {
    long covered = 0;
    for (Entry entry : byPlace()) {
      if (entry.begin() != covered) {
        throw new FormatException(
            path(),
            entry.tensor().name(),
            entry.begin() < covered
                ? "begins at byte %s, which overlaps the tensor before it that ends at %s"
                    .formatted(entry.begin(), covered)
                : "begins at byte %s, and bytes %s on belong to no tensor"
                    .formatted(entry.begin(), covered));
      }
      covered = entry.end();
    }
    long held = bytes.size - dataStart;
    if (covered != held) {
      throw new FormatException(
          path(),
          covered > held
              ? "is truncated: its tensors need %s bytes of data, the file has %s"
                  .formatted(covered, held)
              : "has %s bytes after its last tensor".formatted(held - covered));
    }
  }

  /** All bytes before the data, and the tensors in the order of the data. */
  SafetensorsLayout layout() throws IOException {
    return new SafetensorsLayout(
        bytes.start((int) dataStart), byPlace().stream().map(Entry::tensor).toList());
  }

  @Override
  public Map<String, String> metadata() {
    return metadata;
  }
}
