package io.github.rmsnorm4j.models.internal;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The settings of a stored model: the fields of its {@code config.json}, or the metadata of a GGUF
 * file. Each is of the type that is asked for, or refused. Behind a dot, a name goes on with that
 * of a field in an object.
 *
 * @param file named in messages
 * @param values by their names: numbers, texts, truth values, lists, and maps for objects
 */
public record ConfigFields(Path file, Map<String, ?> values) {
  /**
   * {@return a value, or null if there is none}
   *
   * @param name of the field
   */
  public Object get(String name) {
    Object value = values.get(name);
    int dot = name.indexOf('.');
    return value == null && dot > 0 && values.get(name.substring(0, dot)) instanceof Map<?, ?> inner
        ? inner.get(name.substring(dot + 1))
        : value;
  }

  /**
   * {@return whether there is a value}
   *
   * @param name of the field
   */
  public boolean has(String name) {
    return get(name) != null;
  }

  /**
   * {@return a whole number of a range}
   *
   * @param name of the field
   * @param least the least that it may be
   * @param most the most that it may be
   * @throws FormatException if it is none of this range, or not set
   */
  public int wholeNumber(String name, int least, int most) throws FormatException {
    double value = number(name, null);
    if (value != Math.rint(value) || value < least || value > most) {
      throw wrong(name, get(name), "be a whole number from %s to %s".formatted(least, most));
    }
    return (int) value;
  }

  /**
   * {@return a number}
   *
   * @param name of the field
   * @param absent its value where it is not set; null if it must be
   * @throws FormatException if it is none, or not set
   */
  public double number(String name, Double absent) throws FormatException {
    return get(name, Number.class, "a number", absent).doubleValue();
  }

  /**
   * {@return a truth value}
   *
   * @param name of the field
   * @param absent its value where it is not set; null if it must be
   * @throws FormatException if it is none, or not set
   */
  public boolean flag(String name, Boolean absent) throws FormatException {
    return get(name, Boolean.class, "true or false", absent);
  }

  /**
   * {@return a text}
   *
   * @param name of the field
   * @param absent its value where it is not set; null if it must be
   * @throws FormatException if it is none, or not set
   */
  public String text(String name, String absent) throws FormatException {
    return get(name, String.class, "a text", absent);
  }

  /**
   * {@return a constant, whose {@link #label} is the text of the field}
   *
   * @param name of the field
   * @param constants those that it may be
   * @param absent its value where it is not set
   * @param <E> their type
   * @throws FormatException if it is none of them
   */
  public <E extends Enum<E>> E choice(String name, E[] constants, E absent) throws FormatException {
    String label = text(name, label(absent));
    for (E constant : constants) {
      if (label(constant).equals(label)) {
        return constant;
      }
    }
    throw wrong(
        name, label, "be one of " + Arrays.stream(constants).map(ConfigFields::label).toList());
  }

  /**
   * {@return the text that stands for a constant}
   *
   * @param constant any
   */
  public static String label(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private <T> T get(String name, Class<T> type, String what, T absent) throws FormatException {
    Object value = get(name);
    if (value == null && absent == null) {
      throw error("lacks " + Printable.shortened(name));
    }
    if (value != null && !type.isInstance(value)) {
      boolean nested = value instanceof Map || value instanceof List;
      Object shown = value instanceof String ? "'" + value + "'" : value;
      throw wrong(name, nested ? "a list or an object" : shown, "be " + what);
    }
    return value == null ? absent : type.cast(value);
  }

  /**
   * {@return an error}
   *
   * @param problem what is wrong, as the end of a sentence that begins with the name of the file
   */
  public FormatException error(String problem) {
    return new FormatException(file, problem);
  }

  /**
   * {@return the error of a field}
   *
   * @param name of the field
   * @param value what it is
   * @param must what it must do, for example {@code be a number}
   */
  public FormatException wrong(String name, Object value, String must) {
    return error(
        "%s is %s, it must %s"
            .formatted(
                Printable.shortened(name), Printable.shortened(String.valueOf(value)), must));
  }
}
