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
 * @param config its config.json
 * @param norms the norms that have a gain
 * @param plain the names of those that have none, with their epsilon
 * @param others the shapes of the other tensors
 */
record FamilyCode(
    String name,
    String config,
    List<Site> norms,
    Map<String, Double> plain,
    Map<String, int[]> others) {
  /** Whether a gain may go into the matrices after it. */
  enum Fold {
    RIGHT,
    MAYBE,
    WRONG
  }

  /** A matrix that reads normed rows: its shape, and the axis that the gain lies along. */
  record Reader(String tensor, int[] shape, int axis) {}

  /** A norm, the tensor of its gain, and in how many heads of a row that is used. */
  record Site(String tensor, int width, int heads, CodeNorm norm, Fold fold, List<Reader> readers) {
    /** Where its bias is, if it has one. */
    String bias() {
      return tensor.substring(0, tensor.lastIndexOf("weight")) + "bias";
    }
  }

  @Override
  public String toString() {
    return name;
  }

  /** The string of {@code model_type}. */
  String modelType() {
    return name.split(":")[0];
  }

  /** All tensors by name, with their shapes. */
  Map<String, int[]> tensors() {
    Map<String, int[]> all = new TreeMap<>(others);
    for (Site site : norms) {
      all.put(site.tensor(), new int[] {site.width()});
      if (site.norm().code().contains("layer")) {
        all.put(site.bias(), new int[] {site.width()});
      }
      site.readers().forEach(reader -> all.put(reader.tensor(), reader.shape()));
    }
    return all;
  }

  static List<FamilyCode> all() {
    Map<String, String> stands = new LinkedHashMap<>();
    Map<String, FamilyCode> families = new LinkedHashMap<>();
    FamilyCode now = null;
    String prefix = "";
    for (String line : lines()) {
      String[] word = line.split(" ");
      if (word[0].equals("let")) {
        stands.put(word[1], line.substring(line.indexOf(' ', 4) + 1));
        continue;
      }
      String text = replaced(line, stands);
      word = text.split(" ");
      switch (word[0]) {
        case "==" -> now = new FamilyCode(word[1], "", List.of(), Map.of(), Map.of());
        case "config" ->
            families.put(
                now.name,
                now =
                    now.with(
                        "{\"model_type\":\"" + now.modelType() + "\"," + text.substring(7) + "}"));
        case "as" -> now.add(families.get(word[1]));
        case "norm" -> now.norms.add(site(prefix, word));
        case "plain" -> now.plain.put(prefix + word[1], Double.parseDouble(word[2]));
        case "others" -> {
          for (String other : Arrays.asList(word).subList(1, word.length)) {
            Reader reader = reader(prefix, other, 0);
            now.others.put(reader.tensor(), reader.shape());
          }
        }
        default -> prefix = text.substring(1);
      }
      if (word[0].equals("==") || word[0].equals("as")) {
        prefix = "";
      }
    }
    return List.copyOf(families.values());
  }

  private FamilyCode with(String settings) {
    return new FamilyCode(name, settings, new ArrayList<>(), new TreeMap<>(), new TreeMap<>());
  }

  private void add(FamilyCode of) {
    norms.addAll(of.norms);
    plain.putAll(of.plain);
    others.putAll(of.others);
  }

  private static Site site(String prefix, String[] word) {
    String[] width = word[2].split("x");
    int heads = width.length == 1 ? 1 : Integer.parseInt(width[1]);
    int gain = Integer.parseInt(width[0]);
    List<Reader> readers = new ArrayList<>();
    for (String reader : Arrays.asList(word).subList(6, Math.max(6, word.length))) {
      readers.add(reader(prefix, reader, gain * heads));
    }
    return new Site(
        tensor(prefix, word[1]),
        gain,
        heads,
        new CodeNorm(Set.of(word[3].split(",")), Double.parseDouble(word[4])),
        switch (word[5]) {
          case "->" -> Fold.RIGHT;
          case "may" -> Fold.MAYBE;
          case "stays" -> Fold.WRONG;
          default -> throw new IllegalArgumentException(word[5]);
        },
        readers);
  }

  private static Reader reader(String prefix, String text, int columns) {
    String[] part = text.split("[:@]");
    int[] shape = Arrays.stream(part[1].split("x")).mapToInt(Integer::parseInt).toArray();
    if (columns > 0 && shape.length == 1) {
      shape = new int[] {shape[0], columns};
    }
    int axis = part.length > 2 ? Integer.parseInt(part[2]) : shape.length - 1;
    return new Reader(tensor(prefix, part[0]), shape, axis);
  }

  private static String tensor(String prefix, String name) {
    String end = name.startsWith("=") ? "" : ".weight";
    String text = name.startsWith("=") ? name.substring(1) : name;
    return (text.startsWith("/") ? text.substring(1) : prefix + text) + end;
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
