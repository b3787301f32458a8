package io.github.rmsnorm4j.models.families;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What read-from-code.txt says of one family.
 *
 * @param name the family, and what follows a colon where it has variants
 * @param epsilon what its norms have where config.json has none
 * @param config its config.json
 * @param map the rules that a user gives, empty for a family that is known
 * @param norms the norms that have a gain
 * @param plain the names of those that have none
 * @param unlisted the gains of norms that an inspection only counts
 * @param others the other tensors by name, with those
 */
record FamilyCode(
    String name,
    double epsilon,
    String config,
    String map,
    List<Site> norms,
    List<String> plain,
    List<String> unlisted,
    Map<String, Stored> others) {
  /** What a fold does with a gain: moves it, leaves it though it could be moved, must leave it. */
  enum Fold {
    MOVED,
    KEPT,
    STAYS
  }

  /**
   * A tensor, bytes or else bfloat16. Of a matrix that reads normed rows the gain lies along the
   * axis.
   */
  record Stored(String tensor, int[] shape, int axis, boolean bytes) {
    static Stored vector(String tensor, int length) {
      return new Stored(tensor, new int[] {length}, 0, false);
    }
  }

  /** A norm, the tensor of its gain, and how many heads of a row use that. */
  record Site(
      String tensor, int width, int heads, CodeNorm norm, Fold fold, List<Stored> readers) {}

  @Override
  public String toString() {
    return name;
  }

  /** The string of {@code model_type}. */
  String modelType() {
    return name.split(":")[0];
  }

  /** The tensor of the bias beside a weight. */
  static String bias(String weight) {
    return weight.replaceFirst("weight$", "bias");
  }

  /** All tensors by name. */
  Map<String, Stored> tensors() {
    Map<String, Stored> all = new TreeMap<>(others);
    for (Site site : norms) {
      all.put(site.tensor, Stored.vector(site.tensor, site.width));
      if (site.norm.hasBias()) {
        all.put(bias(site.tensor), Stored.vector(bias(site.tensor), site.width));
      }
      site.readers.forEach(reader -> all.put(reader.tensor, reader));
    }
    return all;
  }

  static List<FamilyCode> all() {
    Map<String, String> stands = new LinkedHashMap<>();
    Map<String, FamilyCode> families = new LinkedHashMap<>();
    FamilyCode now = null;
    String prefix = "";
    for (String line : lines()) {
      if (line.startsWith("let ")) {
        String[] words = line.split(" ", 3);
        stands.put(words[1], replaced(words[2], stands));
        continue;
      }
      String[] statements = replaced(line, stands).split(line.startsWith("==") ? "\n" : "; ");
      for (String statement : statements) {
        String[] words = statement.split(" ");
        String rest = statement.substring(statement.indexOf(' ') + 1);
        switch (words[0]) {
          case "==" ->
              now =
                  new FamilyCode(
                      words[1],
                      Double.parseDouble(words[2]),
                      "",
                      "",
                      List.of(),
                      List.of(),
                      List.of(),
                      Map.of());
          case "config" ->
              now = now.of("{\"model_type\":\"" + now.modelType() + "\"," + rest + "}", "");
          case "map" -> now = now.of(now.config, rest);
          case "as" -> now.add(families.get(words[1]));
          case "norm" -> now.norms.add(site(prefix, words));
          case "plain" -> now.plain.add(prefix + words[1]);
          case "unlisted" -> now.unlisted.addAll(now.add(prefix, rest.split(" ")));
          case "others" -> now.add(prefix, rest.split(" "));
          default -> prefix = statement.substring(1);
        }
        if (words[0].equals("==") || words[0].equals("as")) {
          prefix = "";
        }
      }
      families.put(now.name, now);
    }
    return List.copyOf(families.values());
  }

  private FamilyCode of(String settings, String rules) {
    return new FamilyCode(
        name,
        epsilon,
        settings,
        rules,
        new ArrayList<>(),
        new ArrayList<>(),
        new ArrayList<>(),
        new TreeMap<>());
  }

  private void add(FamilyCode other) {
    norms.addAll(other.norms);
    plain.addAll(other.plain);
    unlisted.addAll(other.unlisted);
    others.putAll(other.others);
  }

  private List<String> add(String prefix, String[] tensors) {
    List<Stored> added = Arrays.stream(tensors).map(each -> stored(prefix, each, 0)).toList();
    added.forEach(other -> others.put(other.tensor, other));
    return added.stream().map(Stored::tensor).toList();
  }

  private static Site site(String prefix, String[] words) {
    String[] width = words[2].split("x");
    int heads = width.length == 1 ? 1 : Integer.parseInt(width[1]);
    int gain = Integer.parseInt(width[0]);
    return new Site(
        tensor(prefix, words[1]),
        gain,
        heads,
        new CodeNorm(Set.of(words[3].split(",")), Double.parseDouble(words[4])),
        words[5].equals("->") ? Fold.MOVED : words[5].equals("kept") ? Fold.KEPT : Fold.STAYS,
        Arrays.stream(words).skip(6).map(word -> stored(prefix, word, gain * heads)).toList());
  }

  /** A tensor; of a matrix that reads normed rows the columns may be left out. */
  private static Stored stored(String prefix, String text, int columns) {
    String[] parts = text.split("[:@!]");
    int[] shape = Arrays.stream(parts[1].split("x")).mapToInt(Integer::parseInt).toArray();
    if (columns > 0 && shape.length == 1) {
      shape = new int[] {shape[0], columns};
    }
    int axis = parts.length > 2 ? Integer.parseInt(parts[2]) : shape.length - 1;
    return new Stored(tensor(prefix, parts[0]), shape, axis, text.endsWith("!"));
  }

  private static String tensor(String prefix, String name) {
    String text = name.startsWith("=") ? name.substring(1) : name + ".weight";
    return text.startsWith("/") ? text.substring(1) : prefix + text;
  }

  private static String replaced(String line, Map<String, String> stands) {
    String text = line;
    for (Map.Entry<String, String> each : stands.entrySet()) {
      text = text.replaceAll("\\" + each.getKey() + "(?![A-Z0-9])", each.getValue());
    }
    return text;
  }

  private static List<String> lines() {
    try (InputStream stream = FamilyCode.class.getResourceAsStream("read-from-code.txt")) {
      String text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
      return text.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
