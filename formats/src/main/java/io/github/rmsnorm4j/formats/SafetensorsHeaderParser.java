package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import io.github.rmsnorm4j.formats.SafetensorsHeader.Entry;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/**
 * Reads the JSON header of a {@code .safetensors} file as a stream of tokens, and accepts each
 * token only where the format has it. So nothing nests deeper than the format allows, and the
 * memory for a header is in proportion to its length in the file.
 */
final class SafetensorsHeaderParser {
  /** Names are not cached: a cache of names that an attacker chose costs more than it saves. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(8)
                  .maxNumberLength(40)
                  .maxNameLength(64 << 10)
                  .maxStringLength(16 << 20)
                  .build())
          .build();

  /** Ten times more than the file of any model has; limits the memory for a header of 100 MB. */
  private static final int MOST_TENSORS = 1_000_000;

  private final TensorFile file;
  private final JsonParser json;
  private final LinkedHashMap<String, Entry> entries = new LinkedHashMap<>();
  private final LinkedHashMap<String, String> metadata = new LinkedHashMap<>();
  private boolean metadataSeen;

  private SafetensorsHeaderParser(TensorFile file, JsonParser json) {
    this.file = file;
    this.json = json;
  }

  static SafetensorsHeader parse(TensorFile file, long start, long length) throws IOException {
    // This decoder refuses bytes that are not UTF-8; a reader of the charset would replace them.
    try (Reader reader =
            new InputStreamReader(new FileRange(file, start, length), UTF_8.newDecoder());
        JsonParser json = JSON.createParser(reader)) {
      return new SafetensorsHeaderParser(file, json).header();
    } catch (StreamConstraintsException _) {
      throw new FormatException(
          file.path(), "the header has a number, name or text longer than any should be");
    } catch (JsonEOFException _) {
      throw new FormatException(file.path(), "the header ends before its JSON does");
    } catch (JsonProcessingException e) {
      long at = e.getLocation() == null ? 0 : e.getLocation().getCharOffset();
      throw new FormatException(file.path(), "the header is not JSON at character " + at);
    } catch (CharacterCodingException _) {
      throw new FormatException(file.path(), "the header is not UTF-8");
    }
  }

  private SafetensorsHeader header() throws IOException {
    expect(JsonToken.START_OBJECT, "an object");
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String name = wellFormed(json.currentName());
      if (name.equals(SafetensorsHeader.METADATA_KEY)) {
        readMetadata();
      } else if (entries.put(name, readEntry(name)) != null) {
        throw wrong("has two tensors named '" + Printable.shortened(name) + "'");
      } else if (entries.size() > MOST_TENSORS) {
        throw wrong("has more than " + MOST_TENSORS + " tensors");
      }
    }
    if (json.nextToken() != null) {
      throw wrong("the header goes on after its end");
    }
    return SafetensorsHeader.of(entries, metadata);
  }

  private void readMetadata() throws IOException {
    if (metadataSeen) {
      throw wrong("has __metadata__ twice");
    }
    metadataSeen = true;
    expect(JsonToken.START_OBJECT, "an object as __metadata__");
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String key = wellFormed(json.currentName());
      expect(JsonToken.VALUE_STRING, "only texts in __metadata__");
      if (metadata.put(key, wellFormed(json.getText())) != null) {
        throw wrong("has '" + Printable.shortened(key) + "' twice in __metadata__");
      }
    }
  }

  private Entry readEntry(String name) throws IOException {
    expect(JsonToken.START_OBJECT, "an object for each tensor");
    Dtype dtype = null;
    List<Long> shape = null;
    List<Long> offsets = null;
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      String key = json.currentName();
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
    if (begin > end || end > file.size) {
      throw wrong(
          name,
          begin > end
              ? "has data_offsets " + offsets + ", which end before they begin"
              : "has data_offsets " + offsets + ", beyond the file's " + file.size + " bytes");
    }
    if (end - begin != tensor.bytes()) {
      throw wrong(
          name,
          "has data_offsets %s, %d bytes, but %s %s needs %d"
              .formatted(offsets, end - begin, dtype, shape, tensor.bytes()));
    }
    return new Entry(tensor, begin, end);
  }

  private Dtype readDtype(String name) throws IOException {
    if (json.nextToken() != JsonToken.VALUE_STRING) {
      throw wrong(name, "has a dtype that is no text");
    }
    String dtype = json.getText();
    Optional<Dtype> known =
        List.of(Dtype.values()).stream().filter(d -> d.name().equals(dtype)).findFirst();
    return known.orElseThrow(
        () -> wrong(name, "has the unknown dtype '" + Printable.shortened(dtype) + "'"));
  }

  private List<Long> readNumbers(String name, String key, int most) throws IOException {
    if (json.nextToken() != JsonToken.START_ARRAY) {
      throw wrong(name, "has something else than a list as its " + key);
    }
    List<Long> numbers = new ArrayList<>(2);
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (numbers.size() == most) {
        throw wrong(name, "has more than " + most + " numbers in its " + key);
      }
      if (json.currentToken() != JsonToken.VALUE_NUMBER_INT || json.getText().startsWith("-")) {
        throw wrong(name, "has something else than whole numbers from 0 on in its " + key);
      }
      if (json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
        throw wrong(name, "has " + json.getText() + " in its " + key + ", which overflows 64 bits");
      }
      numbers.add(json.getLongValue());
    }
    return List.copyOf(numbers);
  }

  /** JSON can hold half a surrogate pair. UTF-8 cannot, so it could not be written again. */
  private String wellFormed(String text) throws FormatException {
    if (!UTF_8.newEncoder().canEncode(text)) {
      throw wrong("the header has half a character in '" + Printable.shortened(text) + "'");
    }
    return text;
  }

  private void expect(JsonToken token, String what) throws IOException {
    if (json.nextToken() != token) {
      throw wrong("the header has something else where it should have " + what);
    }
  }

  private FormatException wrong(String problem) {
    return new FormatException(file.path(), problem);
  }

  private FormatException wrong(String tensor, String problem) {
    return new FormatException(file.path(), tensor, problem);
  }
}
