package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.formats.Printable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The families whose rules come with this module, and those of a user's file. */
final class Families {
  private static final Path TABLE = Path.of("families.json");

  /** Fields of a family that hold for all of its norms that have none of their own. */
  static final Set<String> OF_ALL_NORMS = Set.of("norm", "epsilon", "gain");

  private record Table(Map<String, String> reasons, List<Map<String, Object>> families) {}

  private static Families known;

  private final Map<String, String> reasons;

  /** The fields of each family by its name, with what it takes over from another. */
  private final Map<String, Map<String, Object>> fields = new LinkedHashMap<>();

  private Families(Table table) throws FormatException {
    reasons = table.reasons;
    for (Map<String, Object> family : table.families) {
      fields.put(family.get("family").toString(), whole(TABLE, family));
    }
  }

  /** Those that come with this module; they are read once. */
  static synchronized Families read() throws IOException {
    if (known == null) {
      try (InputStream in = Families.class.getResourceAsStream(TABLE.toString())) {
        Map<String, Object> content = JsonFile.read(TABLE, in.readAllBytes());
        known = new Families(RuleRecords.read(TABLE, content, Table.class));
      }
    }
    return known;
  }

  /** The fields of a family with those that it takes over from the one that it is like. */
  private Map<String, Object> whole(Path file, Map<String, Object> family) throws FormatException {
    Map<String, Object> whole = new LinkedHashMap<>();
    if (family.containsKey("like")) {
      String like = family.get("like").toString();
      if (!fields.containsKey(like)) {
        throw new FormatException(
            file,
            "like is '%s', it must be one of %s"
                .formatted(Printable.shortened(like), String.join(", ", fields.keySet())));
      }
      whole.putAll(fields.get(like));
      whole.remove("source");
    }
    whole.putAll(family);
    whole.remove("like");
    return whole;
  }

  /**
   * The family that has a value in a field.
   *
   * @param field {@code model_types} or {@code gguf_architectures}
   */
  Optional<Family> find(String field, String value) throws FormatException {
    for (Map<String, Object> family : fields.values()) {
      if (family.get(field) instanceof Collection<?> values && values.contains(value)) {
        return Optional.of(of(TABLE, family));
      }
    }
    return Optional.empty();
  }

  /** The names of the families that have such a field. */
  List<String> with(String field) {
    return fields.keySet().stream().filter(name -> fields.get(name).containsKey(field)).toList();
  }

  /** The family that fields describe; the file is named in messages. */
  Family of(Path file, Map<String, Object> rules) throws FormatException {
    Map<String, Object> family = whole(file, rules);
    Map<String, Object> ofNorms = new HashMap<>(family);
    ofNorms.keySet().retainAll(OF_ALL_NORMS);
    family.keySet().removeAll(OF_ALL_NORMS);
    if (family.get("norms") instanceof List<?> norms) {
      family.put("norms", norms.stream().map(norm -> norm(ofNorms, norm)).toList());
    }
    return RuleRecords.read(file, family, Family.class);
  }

  /** The fields of a norm with those of its family that hold for it. */
  private Object norm(Map<String, Object> ofFamily, Object norm) {
    if (!(norm instanceof Map<?, ?> own)) {
      return norm;
    }
    Map<Object, Object> whole = new HashMap<>(ofFamily);
    whole.putAll(own);
    for (String field : List.of("kept", "note")) {
      whole.computeIfPresent(
          field, (_, text) -> reasons.containsKey(text) ? reasons.get(text) : text);
    }
    return whole;
  }
}
