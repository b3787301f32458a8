package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;

/** A file with a header and, behind it, the bytes of its tensors. */
abstract sealed class SingleFile extends TensorFile permits GgufFile, NpyFile, SafetensorsFile {
  /**
   * A tensor and its place in the file.
   *
   * @param tensor name, type and shape
   * @param begin its first byte, counted from the first byte of the data
   */
  record Entry(Tensor tensor, long begin) {
    /** The byte after its last. */
    long end() {
      return begin + tensor.bytes();
    }
  }

  final StoredBytes bytes;
  final long dataStart;
  private final LinkedHashMap<String, Entry> entries;
  private final List<Tensor> tensors;

  /**
   * A file whose header has been read.
   *
   * @param dataStart the position of the first byte of the data
   * @param entries the tensors by name, in the order of the file; no other code writes to them
   */
  SingleFile(StoredBytes bytes, long dataStart, LinkedHashMap<String, Entry> entries) {
    super(bytes.path);
    this.bytes = bytes;
    this.dataStart = dataStart;
    this.entries = entries;
    tensors = entries.values().stream().map(Entry::tensor).toList();
  }

  /** In the order of the data. */
  final List<Entry> byPlace() {
    List<Entry> sorted = new ArrayList<>(entries.values());
    sorted.sort(Comparator.comparingLong(Entry::begin).thenComparingLong(Entry::end));
    return sorted;
  }

  @Override
  public List<Tensor> tensors() {
    return tensors;
  }

  @Override
  public Tensor tensor(String name) throws FormatException {
    Entry entry = entries.get(name);
    return entry != null ? entry.tensor() : super.tensor(name);
  }

  @Override
  StoredBytes bytes(Tensor wanted) {
    return bytes;
  }

  @Override
  long start(Tensor wanted) {
    Entry entry = entries.get(wanted.name());
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
