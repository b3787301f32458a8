package io.github.rmsnorm4j.formats;

import com.fasterxml.jackson.core.JsonToken;
import io.github.rmsnorm4j.formats.SingleFile.Entry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The JSON header of a {@code .safetensors} file. It is read as a stream of tokens, and each token
 * is accepted only where the format has it. So nothing nests deeper than the format allows, and the
 * memory for a header is in proportion to its length in the file.
 */
final class SafetensorsHeader {
  static final String METADATA_KEY = "__metadata__";

  /** Twice as many as the largest models have in all files; limits the memory for a header. */
  static final int MOST_TENSORS = 500_000;

  /** A hundred times more than models have. */
  static final int MOST_METADATA = 10_000;

  private final StoredBytes bytes;
  private final JsonTokens json;

  /** The tensors by name, in the order of the file. */
  final LinkedHashMap<String, Entry> entries = new LinkedHashMap<>();

  /** {@code __metadata__}, in the order of the file; null where there is none. */
  Map<String, String> metadata;

  static SafetensorsHeader read(StoredBytes bytes, long start, long length) throws IOException {
    return JsonTokens.read(
        bytes, start, length, "the header", json -> new SafetensorsHeader(bytes, json));
  }

  private SafetensorsHeader(StoredBytes bytes, JsonTokens json) throws IOException {
    this.bytes = bytes;
    this.json = json;
    json.expect(JsonToken.START_OBJECT, "an object");
    while (json.next() == JsonToken.FIELD_NAME) {
      String name = json.name();
      if (name.equals(METADATA_KEY)) {
        if (metadata != null) {
          throw wrong("has __metadata__ twice");
        }
        metadata = json.texts(name, true);
      } else if (entries.put(name, readEntry(name)) != null) {
        throw wrong("has two tensors named '" + Printable.shortened(name) + "'");
      } else if (entries.size() > MOST_TENSORS) {
        throw wrong("has more than " + MOST_TENSORS + " tensors");
      }
    }
    json.expectEnd();
  }

  private Entry readEntry(String name) throws IOException {
    json.expect(JsonToken.START_OBJECT, "an object for each tensor");
    Dtype dtype = null;
    List<Long> shape = null;
    List<Long> offsets = null;
    while (json.next() == JsonToken.FIELD_NAME) {
      String key = json.name();
      boolean first =
          switch (key) {
            case "dtype" -> dtype == null;
            case "shape" -> shape == null;
            case "data_offsets" -> offsets == null;
            default ->
                throw wrong(
                    name,
                    "has the field '%s', known are dtype, shape and data_offsets"
                        .formatted(Printable.shortened(key)));
          };
      if (!first) {
        throw wrong(name, "has the field '" + key + "' twice");
      }
      switch (key) {
        case "dtype" -> dtype = readDtype(name);
        case "shape" -> shape = readNumbers(name, key, Tensor.MAX_AXES);
        default -> offsets = readNumbers(name, key, 2);
      }
    }
    if (dtype == null || shape == null || offsets == null) {
      String missing = dtype == null ? "dtype" : shape == null ? "shape" : "data_offsets";
      throw wrong(name, "lacks the field '" + missing + "'");
    }
    return entry(name, dtype, shape, offsets);
  }

  private Entry entry(String name, Dtype dtype, List<Long> shape, List<Long> offsets)
      throws FormatException {
    if (offsets.size() != 2) {
      throw wrong(name, "has data_offsets " + offsets + ", two are needed");
    }
    Tensor tensor;
    try {
      tensor = new Tensor(name, dtype, shape);
    } catch (IllegalArgumentException e) {
      throw wrong(name, e.getMessage());
    }
    long begin = offsets.get(0);
    long end = offsets.get(1);
    if (begin > end || end > bytes.size) {
      throw wrong(
          name,
          begin > end
              ? "has data_offsets " + offsets + ", which end before they begin"
              : "has data_offsets " + offsets + ", beyond the file's " + bytes.size + " bytes");
    }
    if (end - begin != tensor.bytes()) {
      throw wrong(
          name,
          "has data_offsets %s, %s bytes, but %s %s needs %s"
              .formatted(offsets, end - begin, dtype, shape, tensor.bytes()));
    }
    return new Entry(tensor, begin);
  }

  private Dtype readDtype(String name) throws IOException {
    if (json.next() != JsonToken.VALUE_STRING) {
      throw wrong(name, "has a dtype that is no text");
    }
    String dtype = json.text();
    Optional<Dtype> known =
        List.of(Dtype.values()).stream()
            .filter(d -> !d.isBlock() && d.name().equals(dtype))
            .findFirst();
    return known.orElseThrow(
        () -> wrong(name, "has the unknown dtype '" + Printable.shortened(dtype) + "'"));
  }

  private List<Long> readNumbers(String name, String key, int most) throws IOException {
    if (json.next() != JsonToken.START_ARRAY) {
      throw wrong(name, "has something else than a list as its " + key);
    }
    List<Long> numbers = new ArrayList<>(2);
    while (json.next() != JsonToken.END_ARRAY) {
      if (numbers.size() == most) {
        throw wrong(name, "has more than " + most + " numbers in its " + key);
      }
      if (json.current() != JsonToken.VALUE_NUMBER_INT || json.text().startsWith("-")) {
        throw wrong(name, "has something else than whole numbers from 0 on in its " + key);
      }
      if (json.overflows()) {
        throw wrong(name, "has " + json.text() + " in its " + key + ", which overflows 64 bits");
      }
      numbers.add(json.number());
    }
    return List.copyOf(numbers);
  }

  private FormatException wrong(String problem) {
    return new FormatException(bytes.path, problem);
  }

  private FormatException wrong(String tensor, String problem) {
    return new FormatException(bytes.path, tensor, problem);
  }
}
