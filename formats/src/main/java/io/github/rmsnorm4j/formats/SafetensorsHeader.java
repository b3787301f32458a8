package io.github.rmsnorm4j.formats;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The header of a {@code .safetensors} file.
 *
 * @param entries the tensors by name, in the order of the file
 * @param tensors the same tensors, as a list
 * @param metadata {@code __metadata__}, in the order of the file
 */
record SafetensorsHeader(
    Map<String, Entry> entries, List<Tensor> tensors, Map<String, String> metadata) {
  static final String METADATA_KEY = "__metadata__";

  /** Twice as many as the largest models have in all files; limits the memory for a header. */
  static final int MOST_TENSORS = 500_000;

  /** A hundred times more than models have. */
  static final int MOST_METADATA = 10_000;

  /**
   * A tensor and its place in the file.
   *
   * @param tensor name, type and shape
   * @param begin its first byte, counted from the first byte of the data
   * @param end the byte after its last
   */
  record Entry(Tensor tensor, long begin, long end) {}

  /** Takes over the map; no other code writes to them. */
  static SafetensorsHeader of(LinkedHashMap<String, Entry> entries, Map<String, String> metadata) {
    return new SafetensorsHeader(
        Collections.unmodifiableMap(entries),
        entries.values().stream().map(Entry::tensor).toList(),
        metadata);
  }
}
