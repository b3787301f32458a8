package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The fields of a {@code config.json}, each of which is of the type that is asked for. */
final class ConfigFields {
  /** Objects of settings of the rotation; older files have the second. */
  private static final List<String> ROTATIONS = List.of("rope_parameters", "rope_scaling");

  private final Path path;

  /** By their names, as JsonFile gives them. Those of a rotation begin with its name and a dot. */
  private final Map<String, Object> fields = new TreeMap<>();

  /**
   * Takes the fields of a config. Newer files have what concerns the rotation in an object.
   *
   * @param path named in messages
   */
  ConfigFields(Path path, Map<String, Object> object) {
    this.path = path;
    object.forEach(
        (name, value) -> {
          if (ROTATIONS.contains(name) && value instanceof Map<?, ?> rotation) {
            rotation.forEach((setting, inner) -> fields.put(name + "." + setting, inner));
          } else {
            fields.put(name, value);
          }
        });
  }

  /** The names of all fields, sorted. */
  Set<String> names() {
    return fields.keySet();
  }

  boolean has(String name) {
    return fields.containsKey(name);
  }

  /** Refuses a truth value that is there and is another. */
  void require(String name, boolean value) throws FormatException {
    if (flag(name, value) != value) {
      throw wrong(name, !value, "be " + value);
    }
  }

  /**
   * A setting of the rotation. It has several names, of which more than one may be there, and
   * programs differ in which they believe, so those that are there must agree.
   *
   * @param setting its name in an object of the rotation, and outside one
   * @param olderNames other names outside an object
   */
  double rotation(double absent, String setting, String... olderNames) throws FormatException {
    List<String> names = new ArrayList<>(List.of(olderNames));
    names.add(setting);
    ROTATIONS.forEach(rotation -> names.add(rotation + "." + setting));
    names.removeIf(name -> !has(name));
    double value = names.isEmpty() ? absent : number(names.getFirst(), null);
    for (String name : names) {
      if (number(name, null) != value) {
        throw wrong(name, number(name, null), "be as " + names.getFirst() + ", " + value);
      }
    }
    return value;
  }

  /**
   * Refuses whatever the object of a rotation says except its base.
   *
   * @param partial whether a share of each head may be rotated
   */
  void refuseOtherRotations(boolean partial) throws FormatException {
    for (String name : names()) {
      int dot = name.indexOf('.');
      if (ROTATIONS.contains(dot < 0 ? name : name.substring(0, dot))) {
        refuseOtherRotation(name, name.substring(dot + 1), partial);
      }
    }
  }

  private void refuseOtherRotation(String name, String setting, boolean partial)
      throws FormatException {
    switch (setting) {
      case "rope_theta" -> number(name, null);
      case "rope_type", "type" -> {
        if (!text(name, null).equals("default")) {
          throw wrong(name, fields.get(name), "be default");
        }
      }
      case "partial_rotary_factor" -> {
        if (number(name, null) != 1 && !partial) {
          throw wrong(name, fields.get(name), "be 1");
        }
      }
      default -> throw error("has " + name + ", which is not supported");
    }
  }

  int wholeNumber(String name, Integer absent) throws FormatException {
    double value = number(name, absent == null ? null : absent.doubleValue());
    if (value != Math.rint(value) || Math.abs(value) > Integer.MAX_VALUE) {
      throw wrong(name, value, "be a whole number below 2^31");
    }
    return (int) value;
  }

  double number(String name, Double absent) throws FormatException {
    return get(name, Number.class, "a number", absent).doubleValue();
  }

  boolean flag(String name, Boolean absent) throws FormatException {
    return get(name, Boolean.class, "true or false", absent);
  }

  String text(String name, String absent) throws FormatException {
    return get(name, String.class, "a text", absent);
  }

  private <T> T get(String name, Class<T> type, String what, T absent) throws FormatException {
    Object value = fields.get(name);
    if (value == null && absent == null) {
      throw new FormatException(path, "lacks " + name);
    }
    if (value != null && !type.isInstance(value)) {
      boolean nested = value instanceof Map || value instanceof List;
      Object shown = value instanceof String ? "'" + value + "'" : value;
      throw wrong(name, nested ? "a list or an object" : shown, "be " + what);
    }
    return value == null ? absent : type.cast(value);
  }

  <E extends Enum<E>> E choice(String name, E[] values, E absent) throws FormatException {
    String label = text(name, label(absent));
    for (E value : values) {
      if (label(value).equals(label)) {
        return value;
      }
    }
    throw wrong(
        name, label, "be one of " + Arrays.stream(values).map(ConfigFields::label).toList());
  }

  static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  FormatException error(String problem) {
    return new FormatException(path, problem);
  }

  FormatException wrong(String name, Object value, String must) {
    String shown = Printable.shortened(String.valueOf(value));
    return new FormatException(path, name + " is " + shown + ", it must " + must);
  }
}
