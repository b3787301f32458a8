package io.github.rmsnorm4j.formats;

import java.util.Arrays;
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
  private static final byte[] MAGIC = {'G', 'G', 'U', 'F'};

  /**
   * A tensor and its place in the file.
   *
   * @param tensor name, type and shape
   * @param begin its first byte, counted from the first byte of the data
   */
  record Entry(Tensor tensor, long begin) {}

  static boolean isMagic(byte[] start) {
    return start.length >= MAGIC.length
        && Arrays.equals(start, 0, MAGIC.length, MAGIC, 0, MAGIC.length);
  }
}
