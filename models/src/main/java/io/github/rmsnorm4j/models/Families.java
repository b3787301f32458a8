package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.formats.Printable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** The families whose rules come with this module, and those of a user's file. */
final class Families {
  private static final String TABLE = "families.json";

  private final Map<String, String> reasons = new HashMap<>();

  /** By the family's name, with what each takes over from another. */
  private final Map<String, Rules> rules = new LinkedHashMap<>();

  private Families() throws IOException {
    Path name = Path.of(TABLE);
    try (InputStream in = Families.class.getResourceAsStream(TABLE)) {
      if (in == null) {
        throw new IOException("the module lacks its resource " + TABLE);
      }
      Rules table = new Rules(name, "", JsonFile.read(name, in.readAllBytes()), null);
      Rules texts = table.object("reasons");
      for (String reason : texts.fields().keySet()) {
        reasons.put(reason, texts.text(reason));
      }
      for (Rules family : table.objects("families", false)) {
        rules.put(family.text("family"), whole(family));
      }
    }
  }

  static Families read() throws IOException {
    return new Families();
  }

  /** A family with what it takes over from the one that it is like. */
  private Rules whole(Rules family) throws FormatException {
    Optional<String> like = family.optionalText("like");
    if (like.isEmpty()) {
      return family;
    }
    Rules other = rules.get(like.get());
    if (other == null) {
      throw family.wrong(
          "like is '%s', it must be one of %s"
              .formatted(Printable.shortened(like.get()), String.join(", ", rules.keySet())));
    }
    Map<String, Object> fields = new LinkedHashMap<>(other.fields());
    fields.putAll(family.fields());
    return new Rules(family.file(), family.where(), fields, null);
  }

  /** The family of a {@code model_type}. */
  Family ofModelType(Path config, String type) throws FormatException {
    return find(config, "model_type", type, "model_types");
  }

  /** The family of a {@code general.architecture}. */
  Family ofArchitecture(Path file, String architecture) throws FormatException {
    return find(file, "general.architecture", architecture, "gguf_architectures");
  }

  private Family find(Path file, String key, String value, String field) throws FormatException {
    TreeSet<String> known = new TreeSet<>();
    for (Rules family : rules.values()) {
      List<String> values = family.texts(field);
      if (values.contains(value)) {
        return new FamilyReader(reasons).read(family);
      }
      known.addAll(values);
    }
    throw new FormatException(
        file,
        "has %s '%s', whose norms are not known; known are %s, and --map FILE describes others"
            .formatted(key, Printable.shortened(value), String.join(", ", known)));
  }

  /** The family that a user's file describes. */
  Family ofFile(Path file) throws IOException {
    return new FamilyReader(reasons).read(whole(new Rules(file, "", JsonFile.read(file), null)));
  }
}
