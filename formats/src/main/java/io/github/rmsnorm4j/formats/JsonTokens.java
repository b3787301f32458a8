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
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A part of a file as a stream of JSON tokens. Every error is a {@link FormatException}. */
record JsonTokens(StoredBytes bytes, String what, JsonParser json) {
  /** As long as the longest text. Limits the memory for all texts of an object together. */
  private static final int LONGEST_TEXTS = 16 << 20;

  /** As deep as the reference implementation reads what is passed over. No code recurses. */
  private static final int DEEPEST = 127;

  /** Names are not cached: a cache of names that an attacker chose costs more than it saves. */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(DEEPEST)
                  .maxNumberLength(40)
                  .maxNameLength(64 << 10)
                  .maxStringLength(LONGEST_TEXTS)
                  .build())
          .build();

  /** Makes something of the tokens. */
  interface Reading<T> {
    T from(JsonTokens json) throws IOException;
  }

  /**
   * Reads a part of a file.
   *
   * @param what the subject of the sentences in messages: {@code the header}
   */
  static <T> T read(StoredBytes bytes, long start, long length, String what, Reading<T> reading)
      throws IOException {
    // This decoder refuses bytes that are not UTF-8; a reader of the charset would replace them.
    try (Reader reader =
            new InputStreamReader(new FileRange(bytes, start, length), UTF_8.newDecoder());
        JsonParser json = JSON.createParser(reader)) {
      return reading.from(new JsonTokens(bytes, what, json));
    } catch (StreamConstraintsException ignored) {
      throw bytes.wrong("%s has a number, name or text longer than any should be", what);
    } catch (JsonEOFException ignored) {
      throw bytes.wrong("%s ends before its JSON does", what);
    } catch (JsonProcessingException e) {
      long at = e.getLocation() == null ? 0 : e.getLocation().getCharOffset();
      throw bytes.wrong("%s is not JSON at character %s", what, at);
    } catch (CharacterCodingException ignored) {
      throw bytes.wrong("%s is not UTF-8", what);
    }
  }

  JsonToken next() throws IOException {
    return json.nextToken();
  }

  JsonToken current() {
    return json.currentToken();
  }

  /** The name of the current field. */
  String name() throws IOException {
    return wellFormed(json.currentName());
  }

  /** The text of the current token: a string, or a number as it is written. */
  String text() throws IOException {
    return wellFormed(json.getText());
  }

  /** Whether the current whole number has more than 64 bits. */
  boolean overflows() throws IOException {
    return json.getNumberType() == JsonParser.NumberType.BIG_INTEGER;
  }

  long number() throws IOException {
    return json.getLongValue();
  }

  /** Passes over the rest of the current object or list, if it is one. */
  void skip() throws IOException {
    json.skipChildren();
  }

  void expect(JsonToken token, String expected) throws IOException {
    if (json.nextToken() != token) {
      throw wrong("has something else where it should have %s", expected);
    }
  }

  /**
   * Reads an object, whose first token is the current one, as texts, in its order. Numbers and
   * truth values are texts as they are written; other values are passed over.
   *
   * @param field its name, for messages
   * @param onlyTexts whether all other values are refused
   */
  Map<String, String> texts(String field, boolean onlyTexts) throws IOException {
    Map<String, String> texts = new LinkedHashMap<>();
    long length = 0;
    if (current() != JsonToken.START_OBJECT) {
      throw wrong("has something else where it should have an object as %s", field);
    }
    while (next() == JsonToken.FIELD_NAME) {
      String key = name();
      JsonToken token = next();
      if (onlyTexts && token != JsonToken.VALUE_STRING) {
        String value = token.isScalarValue() ? Printable.shortened(text()) : "a list or an object";
        throw wrong(
            "has %s as '%s' in %s, where only texts are allowed",
            value, Printable.shortened(key), field);
      }
      if (!token.isScalarValue()) {
        skip();
        continue;
      }
      String text = text();
      length += key.length() + text.length();
      if (texts.put(key, text) != null) {
        throw wrong("has '%s' twice in %s", Printable.shortened(key), field);
      }
      if (texts.size() > SafetensorsHeader.MOST_METADATA) {
        throw wrong("has more than %s entries in %s", SafetensorsHeader.MOST_METADATA, field);
      }
      if (length > LONGEST_TEXTS) {
        throw wrong("has more than %s characters in %s", LONGEST_TEXTS, field);
      }
    }
    return Collections.unmodifiableMap(texts);
  }

  FormatException wrong(String problem, Object... values) {
    return bytes.wrong("%s %s", what, problem.formatted(values));
  }

  void expectEnd() throws IOException {
    if (json.nextToken() != null) {
      throw wrong("continues after its end");
    }
  }

  /** JSON can hold half a surrogate pair. UTF-8 cannot, so it could not be written again. */
  private String wellFormed(String text) throws FormatException {
    if (!UTF_8.newEncoder().canEncode(text)) {
      throw wrong("has half a character in '%s'", Printable.shortened(text));
    }
    return text;
  }
}
