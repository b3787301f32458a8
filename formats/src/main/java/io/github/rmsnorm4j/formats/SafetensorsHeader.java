package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.formats.SingleFile.Entry;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The header of a {@code .safetensors} file.
 *
 * @param entries the tensors by name, in the order of the file
 * @param metadata {@code __metadata__}, in the order of the file
 */
record SafetensorsHeader(LinkedHashMap<String, Entry> entries, Map<String, String> metadata) {
  static final String METADATA_KEY = "__metadata__";

  /** Twice as many as the largest models have in all files; limits the memory for a header. */
  static final int MOST_TENSORS = 500_000;

  /** A hundred times more than models have. */
  static final int MOST_METADATA = 10_000;
}
