package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.formats.SingleFile.Entry;
import java.util.LinkedHashMap;

/**
 * The header of a GGUF file.
 *
 * @param version 2 or 3
 * @param alignment what the place of each tensor is a multiple of
 * @param fields the metadata, in the order of the file
 * @param entries the tensors by name, in the order of the file
 * @param dataStart the first byte of the data
 */
record GgufHeader(
    int version,
    long alignment,
    LinkedHashMap<String, GgufValue> fields,
    LinkedHashMap<String, Entry> entries,
    long dataStart) {
  static final byte[] MAGIC = {'G', 'G', 'U', 'F'};
}
