package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * An object of a file of rules. What it lacks may be in the object around it.
 *
 * @param file named in messages
 * @param where the object in the file, for messages
 * @param fields its fields
 * @param around the object whose fields hold where this one has none; null for none
 */
record Rules(Path file, String where, Map<String, Object> fields, Rules around) {
  /** Longer than any pattern or reason. Limits what names cost that are made from a pattern. */
  private static final int LONGEST_TEXT = 1000;

  /** Refuses fields that nothing reads, as one that is misspelled. */
  void allow(Set<String> known) throws FormatException {
    for (String field : fields.keySet()) {
      if (!known.contains(field)) {
        throw wrong("the field '" + Printable.shortened(field) + "' is not known");
      }
    }
  }

  boolean has(String field) {
    return fields.containsKey(field) || around != null && around.has(field);
  }

  private Object get(String field) throws FormatException {
    Object value = fields.get(field);
    if (value == null && around == null) {
      throw wrong("lacks " + field);
    }
    return value == null ? around.get(field) : value;
  }

  String text(String field) throws FormatException {
    return text(field, get(field), "a text");
  }

  private String text(String field, Object value, String what) throws FormatException {
    String text = as(field, value, String.class, what);
    if (text.length() > LONGEST_TEXT) {
      throw wrong(
          "%s has %s characters, at most %s are read"
              .formatted(Printable.shortened(field), text.length(), LONGEST_TEXT));
    }
    return text;
  }

  Optional<String> optionalText(String field) throws FormatException {
    return has(field) ? Optional.of(text(field)) : Optional.empty();
  }

  boolean flag(String field, boolean absent) throws FormatException {
    return has(field) ? as(field, get(field), Boolean.class, "true or false") : absent;
  }

  double number(String field, double absent) throws FormatException {
    double number =
        has(field) ? as(field, get(field), Number.class, "a number").doubleValue() : absent;
    if (!Double.isFinite(number)) {
      throw wrong(field + " is " + number + ", it must be finite");
    }
    return number;
  }

  /** A list of one text or more; also if there is no such field, which is refused. */
  List<String> someTexts(String field) throws FormatException {
    List<String> texts = texts(field, get(field));
    if (texts.isEmpty()) {
      throw wrong(field + " is empty, it must have one text or more");
    }
    return texts;
  }

  /** A list of texts; empty if there is none. */
  List<String> texts(String field) throws FormatException {
    return has(field) ? texts(field, get(field)) : List.of();
  }

  private List<String> texts(String field, Object value) throws FormatException {
    List<String> texts = new ArrayList<>();
    for (Object element : as(field, value, List.class, "a list of texts")) {
      texts.add(text(field, element, "a list of texts"));
    }
    return texts;
  }

  /** Whether a field holds an object. */
  boolean isObject(String field) throws FormatException {
    return get(field) instanceof Map;
  }

  /** An object within this one. */
  Rules object(String field) throws FormatException {
    return object(field, get(field), null);
  }

  /** A list of objects that inherit this one's fields, or not; empty if there is none. */
  List<Rules> objects(String field, boolean inherit) throws FormatException {
    List<Rules> objects = new ArrayList<>();
    if (has(field)) {
      for (Object element : as(field, get(field), List.class, "a list of objects")) {
        String name = field + "[" + objects.size() + "]";
        objects.add(object(name, element, inherit ? this : null));
      }
    }
    return objects;
  }

  private Rules object(String name, Object value, Rules around) throws FormatException {
    Map<?, ?> map = as(name, value, Map.class, "an object");
    Map<String, Object> fields = new LinkedHashMap<>();
    map.forEach((key, field) -> fields.put(key.toString(), field));
    return new Rules(file, where.isEmpty() ? name : where + "." + name, fields, around);
  }

  private <T> T as(String field, Object value, Class<T> type, String what) throws FormatException {
    if (!type.isInstance(value)) {
      throw wrong(Printable.shortened(field) + " is not " + what);
    }
    return type.cast(value);
  }

  FormatException wrong(String problem) {
    return new FormatException(file, where.isEmpty() ? problem : where + ": " + problem);
  }
}
