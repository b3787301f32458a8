package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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
 *
 * <p>A model that llama.cpp has split into files {@code NAME-00001-of-00003.gguf} is opened by any
 * of them. The tensors are those of all parts, at most 1,000, and the metadata is that of the first
 * part.
 */
public final class GgufFile extends TensorFile {
  private static final String SPLIT = "split.";
  private static final String NUMBER = SPLIT + "no";
  private static final String COUNT = SPLIT + "count";
  private static final String TENSORS = SPLIT + "tensors.count";

  private final GgufHeader header;

  GgufFile(StoredBytes bytes) throws IOException {
    this(bytes, new GgufHeader(bytes));
  }

  private GgufFile(StoredBytes bytes, GgufHeader header) throws FormatException {
    this(List.of(bytes), header, header.places);
    long covered = 0;
    for (Place place : byPlace()) {
      if (place.start() < covered && place.tensor().bytes() > 0) {
        throw bytes.wrongTensor(
            place.tensor().name(),
            "begins at byte %s, which overlaps the tensor before it that ends at %s",
            place.start() - header.dataStart,
            covered - header.dataStart);
      }
      covered = Math.max(covered, place.end());
    }
  }

  private GgufFile(List<StoredBytes> parts, GgufHeader header, Map<String, Place> places) {
    super(parts.getFirst().path, parts, places, texts(header.fields));
    this.header = header;
  }

  private static Map<String, String> texts(Map<String, GgufValue> fields) {
    Map<String, String> texts = new LinkedHashMap<>();
    fields.forEach(
        (key, value) -> {
          if (!(value instanceof GgufValue.Array)) {
            texts.put(key, value.text());
          }
        });
    return texts;
  }

  /** This file, or the one of all parts if this is a part; closes this one if that fails. */
  GgufFile whole() throws IOException {
    return FileOpener.join(
        (List<GgufFile> opened) -> {
          opened.add(this);
          return header.fields.containsKey(COUNT) && split(COUNT) > 1 ? joined(opened) : this;
        });
  }

  private GgufFile joined(List<GgufFile> opened) throws IOException {
    int count = split(COUNT);
    int number = split(NUMBER);
    if (number >= count || count > ShardIndex.MOST_SHARDS) {
      throw wrong(
          "is part %s of %s, at most %s parts are read",
          number + 1L, count, ShardIndex.MOST_SHARDS);
    }
    String name = path().getFileName().toString();
    if (!name.endsWith(ending(number, count))) {
      throw wrong(
          "is part %s of %s: its name must end in %s, as those of the other parts beside it",
          number + 1, count, ending(number, count));
    }
    String start = name.substring(0, name.length() - ending(number, count).length());
    List<StoredBytes> sources = new ArrayList<>();
    Map<String, Place> places = new LinkedHashMap<>();
    GgufFile first = this;
    for (int i = 0; i < count; i++) {
      GgufFile part = i == number ? this : openPart(start + ending(i, count));
      opened.add(part);
      first = i == 0 ? part : first;
      part.requirePart(i, first.fields());
      sources.addAll(part.sources());
      for (Place place : part.places()) {
        if (places.put(place.tensor().name(), place) != null) {
          throw new FormatException(
              part.path(), place.tensor().name(), "is in a part before this one as well");
        }
      }
    }
    if (first.split(TENSORS) != places.size()) {
      throw first.wrong(
          "says that there are %s tensors, and its %s parts have %s",
          first.split(TENSORS), count, places.size());
    }
    return new GgufFile(sources, first.header, places);
  }

  private GgufFile openPart(String name) throws IOException {
    try {
      return FileOpener.open(path().resolveSibling(name), GgufFile.class);
    } catch (NoSuchFileException ignored) {
      throw wrong("is one part of several, and %s is missing", name);
    }
  }

  private static String ending(int number, int count) {
    return String.format(Locale.ROOT, "-%05d-of-%05d.gguf", number + 1, count);
  }

  private int split(String key) throws FormatException {
    if (header.fields.get(key) instanceof GgufValue.Whole whole
        && whole.value().signum() >= 0
        && whole.value().bitLength() < Integer.SIZE) {
      return whole.value().intValue();
    }
    throw wrong("is one part of several, and has no count %s", key);
  }

  /** What two parts say of the model must be the same; most have only what says how it is split. */
  private void requirePart(int number, Map<String, GgufValue> first) throws FormatException {
    Map<String, GgufValue> expected = new LinkedHashMap<>(first);
    expected.put(NUMBER, new GgufValue.Whole(BigInteger.valueOf(number)));
    for (Map.Entry<String, GgufValue> field : expected.entrySet()) {
      GgufValue value = header.fields.get(field.getKey());
      boolean needed = field.getKey().startsWith(SPLIT);
      if (value == null ? needed : !value.equals(field.getValue())) {
        throw wrong(
            "is not part %s of this model: its %s is %s, and should be %s",
            number + 1,
            Printable.shortened(field.getKey()),
            value == null ? "missing" : Printable.shortened(value.text()),
            Printable.shortened(field.getValue().text()));
      }
    }
  }

  /** {@return the metadata with its types, by keys, in the order of the file} */
  public Map<String, GgufValue> fields() {
    return Collections.unmodifiableMap(header.fields);
  }

  /**
   * The metadata in a form that is safe to print: keys and values are shortened, with invisible
   * characters escaped.
   *
   * @return one line for each of {@link #fields()}: {@code general.architecture: llama}
   */
  public List<String> fieldLabels() {
    return fields().entrySet().stream()
        .map(
            field ->
                Printable.shortened(field.getKey())
                    + ": "
                    + Printable.shortened(field.getValue().text()))
        .toList();
  }
}
