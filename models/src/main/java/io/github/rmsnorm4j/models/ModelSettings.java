package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.GgufFile;
import io.github.rmsnorm4j.formats.GgufValue;
import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.models.Family.Premise;
import io.github.rmsnorm4j.models.Family.Tied;
import io.github.rmsnorm4j.models.internal.ConfigFields;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The settings of a model that rules name, each by several keys of which the first that is set
 * counts.
 *
 * @param fields what is set
 * @param prefixes what stands before a key: the settings of a model within another have one, and go
 *     first
 * @param typeKey the setting that names the model's family
 * @param typesField the field of rules that has its values
 */
record ModelSettings(
    ConfigFields fields, List<String> prefixes, String typeKey, String typesField) {
  private static final String ARCHITECTURE = "general.architecture";

  /** More layers than any model has. Limits the number of names that are made from a setting. */
  private static final int MOST_LAYERS = 10_000;

  /** Wider than any model is. Limits the memory for a gain. */
  static final int GREATEST_WIDTH = 1 << 24;

  private static final Pattern HEADLESS = Pattern.compile("\\w{1,100}(?<!Heads?)Model");

  /** The one that is a text. */
  private static final String PATTERN = "hybrid_override_pattern";

  /** What has an entry, or a letter, for each layer. Counts where no setting has their number. */
  private static final List<String> LAYER_LISTS =
      List.of("layers_block_type", "layer_types", PATTERN);

  /** The fields of a {@code config.json}; those of a text model may be in {@code text_config}. */
  static ModelSettings ofConfig(Path file) throws IOException {
    return new ModelSettings(
        new ConfigFields(file, JsonFile.read(file)),
        List.of("text_config.", ""),
        "model_type",
        "model_types");
  }

  /** The metadata of a GGUF file, without lists. */
  static ModelSettings ofGguf(GgufFile file) {
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
    return new ModelSettings(
        new ConfigFields(file.path(), values),
        List.of(values.getOrDefault(ARCHITECTURE, "") + "."),
        ARCHITECTURE,
        "gguf_architectures");
  }

  boolean isGguf() {
    return typeKey.equals(ARCHITECTURE);
  }

  /** Whether the settings are of a model that has a text model within. */
  private boolean hasTextPart() {
    return fields.get("text_config") instanceof Map;
  }

  /** The settings of parts for images and sound; empty if there are none. */
  Optional<String> otherParts() {
    return Stream.of("vision_config", "audio_config")
        .filter(key -> fields.get(key) instanceof Map)
        .reduce((a, b) -> a + " or " + b);
  }

  /** Whether the model was stored without a head, as a {@code BertModel} is. */
  boolean isHeadless() {
    return !hasTextPart()
        && fields.get("architectures") instanceof List<?> names
        && names.size() == 1
        && HEADLESS.matcher("" + names.getFirst()).matches();
  }

  /** What names begin with in published files: those of a text model within another say so. */
  String prefix(List<String> prefixes) {
    return prefixes.stream()
        .filter(prefix -> prefix.contains("language_model") == hasTextPart())
        .findFirst()
        .orElse(prefixes.getFirst());
  }

  /** What the model says that it is; empty if it does not. */
  String type() {
    return fields.get(typeKey) instanceof String type ? type : "";
  }

  /**
   * The rules of the model's family.
   *
   * @param map a file of rules to use instead
   */
  Family family(Families families, Optional<Path> map) throws IOException {
    if (map.isPresent()) {
      return families.of(map.get(), JsonFile.read(map.get()));
    }
    if (type().isEmpty()) {
      throw fields.error("lacks " + typeKey + ", which tells the family of the model");
    }
    String unknown =
        "has %s '%s', whose norms are not known; docs/choose.md and docs/models.md list those that"
            + " are, and --map FILE describes others";
    return known(families)
        .orElseThrow(() -> fields.error(unknown.formatted(typeKey, Printable.shortened(type()))));
  }

  /** The rules of the model's own type; if there are none, those of the text model within it. */
  Optional<Family> known(Families families) throws FormatException {
    Optional<Family> own = families.find(typesField, type());
    String inner = "text_config." + typeKey;
    return own.isEmpty() && fields.get(inner) instanceof String type
        ? families.find(typesField, type)
        : own;
  }

  /** Whether a setting is there and neither false nor 0. */
  boolean isOn(String setting) {
    return key(List.of(setting))
        .map(fields::get)
        .filter(value -> value instanceof Number n ? n.doubleValue() != 0 : !value.equals(false))
        .isPresent();
  }

  /** The first of the keys that is set, as it is written in the file. */
  Optional<String> key(List<String> keys) {
    return places(keys).filter(fields::has).findFirst();
  }

  private Stream<String> places(List<String> keys) {
    return prefixes.stream().flatMap(prefix -> keys.stream().map(key -> prefix + key));
  }

  /** A key in each place where programs may look for it, whether it is set there or not. */
  List<String> places(String key) {
    return places(List.of(key))
        .filter(
            place -> {
              int inner = place.length() - key.length() - 1;
              return inner < 0 || fields.get(place.substring(0, inner)) instanceof Map;
            })
        .toList();
  }

  /** The first of the keys that is set, or the one that is missing. */
  String keyOrFirst(List<String> keys) {
    return key(keys).orElse(prefixes.getLast() + keys.getFirst());
  }

  /** The settings that are numbers, by their keys. */
  Map<String, Number> numbers() {
    Map<String, Number> numbers = new LinkedHashMap<>();
    for (String prefix : prefixes) {
      Map<?, ?> within =
          fields.get(prefix.replace(".", "")) instanceof Map<?, ?> inner ? inner : fields.values();
      for (Object key : within.keySet()) {
        String name = within == fields.values() ? "" + key : prefix + key;
        if (name.startsWith(prefix) && fields.get(name) instanceof Number number) {
          numbers.putIfAbsent(name.substring(prefix.length()), number);
        }
      }
    }
    return numbers;
  }

  /** How many layers there are: a setting that is a list has an entry for each. */
  int layers(List<String> keys) throws FormatException {
    Optional<String> list = key(LAYER_LISTS).filter(_ -> key(keys).isEmpty());
    String key = list.orElse(keyOrFirst(keys));
    int layers =
        switch (fields.get(key)) {
          case List<?> entries when !entries.isEmpty() -> entries.size();
          case String letters when !letters.isEmpty() && key.endsWith(PATTERN) -> letters.length();
          case Object other when list.isPresent() ->
              throw fields.wrong(key, "'" + other + "'", "have an entry for each layer");
          case null, default -> fields.wholeNumber(key, 0, MOST_LAYERS);
        };
    if (layers > MOST_LAYERS) {
      throw fields.wrong(key, "of " + layers + " layers", "have at most " + MOST_LAYERS);
    }
    return layers;
  }

  /** How many elements a row has. */
  int width(List<String> keys) throws FormatException {
    return fields.wholeNumber(keyOrFirst(keys), 0, GREATEST_WIDTH);
  }

  /** A spec with the epsilon and the number of groups that are set, or with its own. */
  NormSpec with(NormSpec spec, List<String> epsilonKeys, List<String> groupKeys)
      throws FormatException {
    NormSpec with = spec;
    Optional<String> key = key(epsilonKeys);
    if (key.isPresent()) {
      double epsilon = fields.number(key.get(), null);
      if (!(epsilon >= 0 && epsilon < Double.POSITIVE_INFINITY)) {
        throw fields.wrong(key.get(), epsilon, "be finite and not negative");
      }
      with = spec.withEpsilon(epsilon);
    }
    if (groupKeys.isEmpty()) {
      return with;
    }
    int groups = fields.wholeNumber(keyOrFirst(groupKeys), 1, GREATEST_WIDTH);
    return with.withGroups(RowGroups.ofCount(groups));
  }

  boolean flag(List<String> keys, boolean absent) throws FormatException {
    Optional<String> key = key(keys);
    return key.isPresent() ? fields.flag(key.get(), null) : absent;
  }

  /** Whether the head is the embedding. */
  boolean isTied(Family family, boolean noHead) throws FormatException {
    Tied tied = family.tied();
    return tied.keys().isEmpty() ? tied.absent() && noHead : flag(tied.keys(), tied.absent());
  }

  /** What the model is like without a setting that the rules need; empty if it has them. */
  Optional<String> brokenPremise(Family family) throws FormatException {
    for (Premise premise : family.premises()) {
      if (flag(List.of(premise.key()), premise.absent()) != premise.mustBe()) {
        return Optional.of(premise.otherwise());
      }
    }
    return Optional.empty();
  }
}
