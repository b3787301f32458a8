package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Printable;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of a model that rules name: the fields of a {@code config.json}, or the metadata of
 * a GGUF file.
 *
 * @param file named in messages
 * @param fields what is set
 * @param prefixes what stands before a key: the settings of a model within another have one, and go
 *     first
 */
record ModelSettings(Path file, Map<String, ?> fields, List<String> prefixes) {
  /** More layers than any model has. Limits the number of names that are made from a setting. */
  private static final int MOST_LAYERS = 10_000;

  /** Wider than any model is. Limits the memory for a gain. */
  static final int GREATEST_WIDTH = 1 << 24;

  /** The fields of a {@code config.json}; those of a text model may be in {@code text_config}. */
  static ModelSettings ofConfig(Path file, Map<String, Object> fields) {
    return new ModelSettings(file, fields, List.of("text_config.", ""));
  }

  /** The metadata of a GGUF file, in which a key begins with the architecture. */
  static ModelSettings ofGguf(Path file, Map<String, String> metadata) {
    String architecture = metadata.getOrDefault("general.architecture", "");
    return new ModelSettings(file, metadata, List.of(architecture + "."));
  }

  /** The first of the keys that is set. */
  private Optional<Setting> find(List<String> keys) {
    for (String prefix : prefixes) {
      for (String key : keys) {
        Object value = get(prefix + key);
        if (value != null) {
          return Optional.of(new Setting(prefix + key, value));
        }
      }
    }
    return Optional.empty();
  }

  private record Setting(String key, Object value) {}

  private Object get(String key) {
    Object value = fields.get(key);
    int dot = key.indexOf('.');
    return value == null && dot > 0 && fields.get(key.substring(0, dot)) instanceof Map<?, ?> inner
        ? inner.get(key.substring(dot + 1))
        : value;
  }

  /** The first of the keys that is set, as it is written in the file. */
  Optional<String> key(List<String> keys) {
    return find(keys).map(Setting::key);
  }

  /** A key in each place where programs may look for it, whether it is set there or not. */
  List<String> places(String key) {
    return prefixes.stream()
        .filter(
            prefix ->
                prefix.isEmpty()
                    || fields.get(prefix.substring(0, prefix.length() - 1)) instanceof Map)
        .map(prefix -> prefix + key)
        .toList();
  }

  /** How many layers there are. */
  int layers(List<String> keys) throws FormatException {
    return count(keys, 0, MOST_LAYERS);
  }

  /** How many elements a row has. */
  int width(List<String> keys) throws FormatException {
    return count(keys, 0, GREATEST_WIDTH);
  }

  private int count(List<String> keys, int least, int most) throws FormatException {
    Setting setting =
        find(keys)
            .orElseThrow(
                () -> new FormatException(file, "lacks " + prefixes.getLast() + keys.getFirst()));
    double value = number(setting);
    if (value != Math.rint(value) || value < least || value > most) {
      throw wrong(setting, "a whole number from %s to %s".formatted(least, most));
    }
    return (int) value;
  }

  /** A spec with the epsilon that is set, or with its own. */
  NormSpec withEpsilon(NormSpec spec, List<String> keys) throws FormatException {
    Optional<Setting> setting = find(keys);
    try {
      return setting.isPresent() ? spec.withEpsilon(number(setting.get())) : spec;
    } catch (IllegalArgumentException _) {
      throw wrong(setting.get(), "finite and not negative");
    }
  }

  /** A spec with the number of groups that is set; one without such settings stays. */
  NormSpec withGroups(NormSpec spec, List<String> keys) throws FormatException {
    return keys.isEmpty()
        ? spec
        : spec.withGroups(RowGroups.ofCount(count(keys, 1, GREATEST_WIDTH)));
  }

  private double number(Setting setting) throws FormatException {
    if (setting.value instanceof Number number) {
      return number.doubleValue();
    }
    try {
      return Double.parseDouble(setting.value.toString());
    } catch (NumberFormatException _) {
      throw wrong(setting, "a number");
    }
  }

  boolean flag(List<String> keys, boolean absent) throws FormatException {
    Optional<Setting> setting = find(keys);
    if (setting.isEmpty()) {
      return absent;
    }
    return switch (setting.get().value.toString()) {
      case "true" -> true;
      case "false" -> false;
      default -> throw wrong(setting.get(), "true or false");
    };
  }

  private FormatException wrong(Setting setting, String allowed) {
    return new FormatException(
        file,
        "has %s %s, it must be %s"
            .formatted(
                Printable.shortened(setting.key),
                Printable.shortened(setting.value.toString()),
                allowed));
  }
}
