package io.github.rmsnorm4j.formats;

import com.fasterxml.jackson.core.JsonToken;
import io.github.rmsnorm4j.formats.TensorFile.Place;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The JSON header of a {@code .safetensors} file. It is read as a stream of tokens, and each token
 * is accepted only where the format has it. So nothing nests deeper than the format allows, and the
 * memory for a header is in proportion to its length in the file.
 */
final class SafetensorsHeader {
  static final String METADATA_KEY = "__metadata__";

  /** More than the longest header of a {@code .safetensors} file has room for. */
  static final int MOST_TENSORS = 2_000_000;

  /** A hundred times more than models have. */
  static final int MOST_METADATA = 10_000;

  private final StoredBytes bytes;
  private final long dataStart;
  private final JsonTokens json;

  /** The tensors by name, in the order of the file. */
  final LinkedHashMap<String, Place> places = new LinkedHashMap<>();

  /** Null where there is none. */
  private Map<String, String> metadata;

  static SafetensorsHeader read(StoredBytes bytes, long start, long end) throws IOException {
    return JsonTokens.read(
        bytes, start, end - start, "the header", json -> new SafetensorsHeader(bytes, end, json));
  }

  private SafetensorsHeader(StoredBytes bytes, long dataStart, JsonTokens json) throws IOException {
    this.bytes = bytes;
    this.dataStart = dataStart;
    this.json = json;
    json.expect(JsonToken.START_OBJECT, "an object");
    while (json.next() == JsonToken.FIELD_NAME) {
      String name = json.name();
      if (name.equals(METADATA_KEY)) {
        if (metadata != null) {
          throw bytes.wrong("has __metadata__ twice");
        }
        metadata = json.next() == JsonToken.VALUE_NULL ? Map.of() : json.texts(name, true);
      } else if (places.put(name, readPlace(name)) != null) {
        throw bytes.wrong("has two tensors named '%s'", Printable.shortened(name));
      }
    }
    json.expectEnd();
  }

  /** {@code __metadata__}, in the order of the file. */
  Map<String, String> metadata() {
    return metadata == null ? Map.of() : metadata;
  }

  /** Fields of other names are passed over, as the reference implementation does. */
  private Place readPlace(String name) throws IOException {
    json.expect(JsonToken.START_OBJECT, "an object for each tensor");
    Dtype dtype = null;
    List<Long> shape = null;
    List<Long> offsets = null;
    while (json.next() == JsonToken.FIELD_NAME) {
      switch (json.name()) {
        case "dtype" -> dtype = onlyOne(name, "dtype", dtype, readDtype(name));
        case "shape" ->
            shape = onlyOne(name, "shape", shape, readNumbers(name, "shape", Tensor.MAX_AXES));
        case "data_offsets" ->
            offsets = onlyOne(name, "data_offsets", offsets, readNumbers(name, "data_offsets", 2));
        default -> {
          json.next();
          json.skip();
        }
      }
    }
    if (dtype == null || shape == null || offsets == null) {
      String missing = dtype == null ? "dtype" : shape == null ? "shape" : "data_offsets";
      throw wrong(name, "lacks the field '%s'", missing);
    }
    return place(name, dtype, shape, offsets);
  }

  private <T> T onlyOne(String name, String field, T earlier, T value) throws FormatException {
    if (earlier != null) {
      throw wrong(name, "has the field '%s' twice", field);
    }
    return value;
  }

  private Place place(String name, Dtype dtype, List<Long> shape, List<Long> offsets)
      throws FormatException {
    if (offsets.size() != 2) {
      throw wrong(name, "has data_offsets %s, two are needed", offsets);
    }
    Tensor tensor = bytes.tensor(name, dtype, shape);
    long begin = offsets.get(0);
    long end = offsets.get(1);
    if (begin > end) {
      throw wrong(name, "has data_offsets %s, which end before they begin", offsets);
    }
    if (end > bytes.size) {
      throw wrong(name, "has data_offsets %s, beyond the file's %s bytes", offsets, bytes.size);
    }
    if (end - begin != tensor.bytes()) {
      throw wrong(
          name,
          "has data_offsets %s, %s bytes, but %s %s needs %s",
          offsets,
          end - begin,
          dtype,
          shape,
          tensor.bytes());
    }
    return new Place(tensor, bytes, dataStart + begin);
  }

  private Dtype readDtype(String name) throws IOException {
    if (json.next() != JsonToken.VALUE_STRING) {
      throw wrong(name, "has a dtype that is no text");
    }
    String dtype = json.text();
    return Stream.of(Dtype.values())
        .filter(known -> !known.isBlock() && known.name().equals(dtype))
        .findFirst()
        .orElseThrow(() -> wrong(name, "has the unknown dtype '%s'", Printable.shortened(dtype)));
  }

  private List<Long> readNumbers(String name, String key, int most) throws IOException {
    if (json.next() != JsonToken.START_ARRAY) {
      throw wrong(name, "has something else than a list as its %s", key);
    }
    List<Long> numbers = new ArrayList<>(2);
    while (json.next() != JsonToken.END_ARRAY) {
      if (numbers.size() == most) {
        throw wrong(name, "has more than %s numbers in its %s", most, key);
      }
      if (json.current() != JsonToken.VALUE_NUMBER_INT || json.text().startsWith("-")) {
        throw wrong(name, "has something else than whole numbers from 0 on in its %s", key);
      }
      if (json.overflows()) {
        throw wrong(name, "has %s in its %s, which overflows 64 bits", json.text(), key);
      }
      numbers.add(json.number());
    }
    return List.copyOf(numbers);
  }

  private FormatException wrong(String tensor, String problem, Object... values) {
    return bytes.wrongTensor(tensor, problem, values);
  }
}
