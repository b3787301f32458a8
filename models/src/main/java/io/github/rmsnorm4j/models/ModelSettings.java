package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.GgufFile;
import io.github.rmsnorm4j.formats.GgufValue;
import io.github.rmsnorm4j.models.internal.ConfigFields;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of a model that rules name, each by several keys of which the first that is set
 * counts.
 *
 * @param fields what is set
 * @param prefixes what stands before a key: the settings of a model within another have one, and go
 *     first
 */
record ModelSettings(ConfigFields fields, List<String> prefixes) {
  /** More layers than any model has. Limits the number of names that are made from a setting. */
  private static final int MOST_LAYERS = 10_000;

  /** Wider than any model is. Limits the memory for a gain. */
  static final int GREATEST_WIDTH = 1 << 24;

  /** The fields of a {@code config.json}; those of a text model may be in {@code text_config}. */
  static ModelSettings ofConfig(Path file, Map<String, Object> fields) {
    return new ModelSettings(new ConfigFields(file, fields), List.of("text_config.", ""));
  }

  /**
   * The metadata of a GGUF file, without lists.
   *
   * @param architecture what its keys begin with
   */
  static ModelSettings ofGguf(GgufFile file, String architecture) {
    Map<String, Object> values = new HashMap<>();
    file.fields()
        .forEach(
            (key, value) -> {
              switch (value) {
                case GgufValue.Whole whole -> values.put(key, whole.value());
                // As written: an epsilon of 1e-5, not the float32 next to it.
                case GgufValue.Real real -> values.put(key, Double.valueOf(real.text()));
                case GgufValue.Truth truth -> values.put(key, truth.value());
                case GgufValue.Text text -> values.put(key, text.text());
                case GgufValue.Array _ -> {}
              }
            });
    return new ModelSettings(new ConfigFields(file.path(), values), List.of(architecture + "."));
  }

  /** The first of the keys that is set, as it is written in the file. */
  Optional<String> key(List<String> keys) {
    return prefixes.stream()
        .flatMap(prefix -> keys.stream().map(key -> prefix + key))
        .filter(fields::has)
        .findFirst();
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
    return fields.wholeNumber(key(keys).orElse(prefixes.getLast() + keys.getFirst()), least, most);
  }

  /** A spec with the epsilon that is set, or with its own. */
  NormSpec withEpsilon(NormSpec spec, List<String> keys) throws FormatException {
    Optional<String> key = key(keys);
    if (key.isEmpty()) {
      return spec;
    }
    double epsilon = fields.number(key.get(), null);
    try {
      return spec.withEpsilon(epsilon);
    } catch (IllegalArgumentException _) {
      throw fields.wrong(key.get(), epsilon, "be finite and not negative");
    }
  }

  /** A spec with the number of groups that is set; one without such settings stays. */
  NormSpec withGroups(NormSpec spec, List<String> keys) throws FormatException {
    return keys.isEmpty()
        ? spec
        : spec.withGroups(RowGroups.ofCount(count(keys, 1, GREATEST_WIDTH)));
  }

  boolean flag(List<String> keys, boolean absent) throws FormatException {
    Optional<String> key = key(keys);
    return key.isPresent() ? fields.flag(key.get(), null) : absent;
  }
}
