package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * A {@code .safetensors} file. Its header is checked as strictly as the format asks: every name
 * occurs once, every tensor has as many bytes as its type and shape need, and the tensors cover the
 * data without gap or overlap.
 */
public final class SafetensorsFile extends TensorFile {
  /** The limit of the reference implementation. */
  private static final long LONGEST_HEADER = 100_000_000;

  private static final int LENGTH_BYTES = 8;

  private final StoredBytes bytes;
  private final SafetensorsHeader header;
  private final long dataStart;

  SafetensorsFile(StoredBytes bytes) throws IOException {
    super(bytes.path());
    this.bytes = bytes;
    Path path = bytes.path();
    long size = bytes.size();
    if (size < LENGTH_BYTES) {
      throw new FormatException(
          path, "has %s bytes, a .safetensors file has at least 8".formatted(size));
    }
    long headerLength =
        ByteBuffer.wrap(bytes.start(LENGTH_BYTES)).order(ByteOrder.LITTLE_ENDIAN).getLong();
    if (headerLength < 0 || headerLength > LONGEST_HEADER) {
      throw new FormatException(
          path,
          "has a header of %s bytes, at most %s are allowed (or this is no .safetensors file)"
              .formatted(Long.toUnsignedString(headerLength), LONGEST_HEADER));
    }
    if (headerLength > size - LENGTH_BYTES) {
      throw new FormatException(
          path,
          "has a header of %s bytes, which is longer than the file of %s"
              .formatted(headerLength, size));
    }
    dataStart = LENGTH_BYTES + headerLength;
    header = SafetensorsHeaderParser.parse(bytes, LENGTH_BYTES, headerLength);
    checkCover();
  }

  private List<SafetensorsHeader.Entry> byOffset() {
    List<SafetensorsHeader.Entry> entries = new ArrayList<>(header.entries().values());
    entries.sort(
        Comparator.comparingLong(SafetensorsHeader.Entry::begin)
            .thenComparingLong(SafetensorsHeader.Entry::end));
    return entries;
  }

  /** Sorted by offset, the tensors must follow each other from the first byte of the data. */
  private void checkCover() throws FormatException {
    long covered = 0;
    for (SafetensorsHeader.Entry entry : byOffset()) {
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
    long held = bytes.size() - dataStart;
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
        bytes.start((int) dataStart),
        byOffset().stream().map(SafetensorsHeader.Entry::tensor).toList());
  }

  @Override
  public List<Tensor> tensors() {
    return header.tensors();
  }

  @Override
  public Tensor tensor(String name) throws FormatException {
    SafetensorsHeader.Entry entry = header.entries().get(name);
    return entry != null ? entry.tensor() : super.tensor(name);
  }

  @Override
  public Map<String, String> metadata() {
    return header.metadata();
  }

  @Override
  StoredBytes bytes(Tensor wanted) {
    return bytes;
  }

  @Override
  long start(Tensor wanted) {
    SafetensorsHeader.Entry entry = header.entries().get(wanted.name());
    if (entry == null || !entry.tensor().equals(wanted)) {
      throw notOfThisFile(wanted);
    }
    return dataStart + entry.begin();
  }

  @Override
  public void close() throws IOException {
    bytes.close();
  }
}
