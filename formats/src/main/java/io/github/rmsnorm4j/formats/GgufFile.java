package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A GGUF file of version 2 or 3, little-endian. It is read-only: no GGUF file is written.
 *
 * <p>GGUF names the axis that varies fastest first; {@link Tensor#shape()} has it last, as in other
 * files. Quantised tensors are listed with a type that {@link Dtype#isBlock()}, and their bytes can
 * be read, but not their elements.
 *
 * <p>The tensors must be aligned and must not overlap. Bytes that belong to no tensor are allowed,
 * as the format allows them.
 */
public final class GgufFile extends SingleFile {
  private final int version;
  private final Map<String, GgufValue> fields;
  private final Map<String, String> metadata = new LinkedHashMap<>();

  GgufFile(StoredBytes bytes) throws IOException {
    this(bytes, new GgufHeader(bytes));
  }

  private GgufFile(StoredBytes bytes, GgufHeader header) throws IOException {
    super(bytes, header.dataStart, header.entries);
    version = header.version;
    fields = header.fields;
    fields.forEach(
        (key, value) -> {
          if (!(value instanceof GgufValue.Array)) {
            metadata.put(key, value.text());
          }
        });
    checkPlaces(header.alignment);
  }

  private void checkPlaces(long alignment) throws FormatException {
    long held = Math.max(0, bytes.size - dataStart);
    long covered = 0;
    for (Entry entry : byPlace()) {
      Tensor tensor = entry.tensor();
      long begin = entry.begin();
      if (begin < 0 || begin > held || tensor.bytes() > held - begin) {
        throw new FormatException(
            path(),
            tensor.name(),
            "needs %s bytes from byte %s of the data on, and there are %s: the file is truncated"
                .formatted(tensor.bytes(), Long.toUnsignedString(begin), held));
      }
      if (begin % alignment != 0) {
        throw new FormatException(
            path(),
            tensor.name(),
            "begins at byte %s, which is no multiple of the alignment %s"
                .formatted(begin, alignment));
      }
      if (begin < covered && tensor.bytes() > 0) {
        throw new FormatException(
            path(),
            tensor.name(),
            "begins at byte %s, which overlaps the tensor before it that ends at %s"
                .formatted(begin, covered));
      }
      covered = Math.max(covered, entry.end());
    }
  }

  /** {@return the version of the format, 2 or 3} */
  public int version() {
    return version;
  }

  /** {@return the metadata with its types, by keys, in the order of the file} */
  public Map<String, GgufValue> fields() {
    return Collections.unmodifiableMap(fields);
  }

  /**
   * The metadata in a form that is safe to print: keys and values are shortened, with invisible
   * characters escaped.
   *
   * @return one line for each of {@link #fields()}: {@code general.architecture: llama}
   */
  public List<String> fieldLabels() {
    return fields.entrySet().stream()
        .map(
            field ->
                Printable.shortened(field.getKey())
                    + ": "
                    + Printable.shortened(field.getValue().text()))
        .toList();
  }

  @Override
  public Map<String, String> metadata() {
    return Collections.unmodifiableMap(metadata);
  }
}
