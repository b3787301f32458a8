package io.github.rmsnorm4j;

import io.github.rmsnorm4j.NormSpec.Preset;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The names that the text of a norm may begin with: presets, and models. */
final class NormNames {
  private NormNames() {}

  /** Read when a name is no preset: an engine needs none. */
  private static final class Models {
    /** The text of a model's norm, or a list of its norms, which has a semicolon. */
    static final Map<String, String> NORMS = read();

    private static Map<String, String> read() {
      Map<String, String> norms = new LinkedHashMap<>();
      try (InputStream in = NormNames.class.getResourceAsStream("model-norms.txt")) {
        byte[] text = Objects.requireNonNull(in, "no resource model-norms.txt").readAllBytes();
        for (String line : new String(text, StandardCharsets.UTF_8).strip().split("\n", -1)) {
          String[] sides = line.split(": ", 2);
          for (String name : sides[1].split(" ", -1)) {
            norms.put(name, sides[0]);
          }
        }
        return norms;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /**
   * The norm of a name.
   *
   * @throws IllegalArgumentException if there is none, or a model of that name has several
   */
  static NormSpec spec(String name) {
    for (Preset preset : NormSpec.presets()) {
      if (preset.name().equals(name)) {
        return preset.spec();
      }
    }
    String norms = Models.NORMS.get(name);
    if (norms == null) {
      throw unknown(hint(name));
    }
    if (norms.contains(";")) {
      throw new IllegalArgumentException("such a model has several: " + norms);
    }
    return NormSpec.parse(norms);
  }

  static IllegalArgumentException unknown(String hint) {
    String names = NormSpec.presets().stream().map(Preset::name).collect(Collectors.joining(", "));
    return new IllegalArgumentException(
        hint
            + "it may be "
            + names
            + ", or a model_type of docs/choose.md; settings may follow: llama(eps=1e-5)");
  }

  /** The nearest of the names that begin like this one for more than half of their letters. */
  private static String hint(String name) {
    List<String> names = new ArrayList<>();
    NormSpec.presets().forEach(preset -> names.add(preset.name()));
    names.addAll(Models.NORMS.keySet());
    String wanted = letters(name);
    TreeMap<Integer, List<String>> near = new TreeMap<>();
    for (String known : names) {
      String letters = letters(known);
      int same = letters.length();
      while (!wanted.startsWith(letters.substring(0, same))) {
        same--;
      }
      if (2 * same > letters.length()) {
        near.computeIfAbsent(letters.length() - 2 * same, of -> new ArrayList<>()).add(known);
      }
    }
    return near.isEmpty()
        ? ""
        : "did you mean " + String.join(" or ", near.firstEntry().getValue()) + "? ";
  }

  private static String letters(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
  }
}
