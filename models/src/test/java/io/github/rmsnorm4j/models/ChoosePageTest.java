package io.github.rmsnorm4j.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.models.Family.NormRule;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The table of docs/choose.md, from {@code model_type} to the text of a norm, is the rules', and so
 * are the names of models that {@link NormSpec#parse} takes.
 */
class ChoosePageTest {
  private static final Path TABLE = Path.of("families.json");
  private static final Path PAGE = Path.of("..", "docs", "choose.md");

  private static final Path NAMED =
      Path.of("..", "core/src/main/resources/io/github/rmsnorm4j/model-norms.txt");

  private static final String HEADER =
      "| `model_type` | norms | text | epsilon |\n| --- | --- | --- | --- |\n";

  private static final String ALL_OTHERS = "all others";

  private record Norm(String name, String text) {}

  /** So many are read in one row of a table. */
  private static final int MOST_TYPES = 12;

  private static final Pattern TEXT =
      Pattern.compile("`((?:rmsnorm|llama|gemma|t5|layernorm|pytorch|onnx|l2)(?:\\([^`]*\\))?)`");

  /** With {@code -Drmsnorm4j.choose.write=true} the test writes the table. */
  @Test
  void theTableIsThatOfTheRules() throws IOException {
    Map<Norm, List<String>> types = new LinkedHashMap<>();
    for (Family family : families("model_types")) {
      for (Norm norm : norms(family)) {
        types.computeIfAbsent(norm, _ -> new ArrayList<>()).addAll(family.modelTypes());
      }
    }
    Map<List<String>, List<String>> names = new LinkedHashMap<>();
    types.forEach(
        (norm, of) -> {
          for (int at = 0; at < of.size(); at += MOST_TYPES) {
            String some = code(of.subList(at, Math.min(of.size(), at + MOST_TYPES)));
            names.computeIfAbsent(List.of(some, norm.text), _ -> new ArrayList<>()).add(norm.name);
          }
        });
    List<String> rows = new ArrayList<>();
    names.forEach(
        (row, of) ->
            rows.add(
                "| %s | %s | %s |"
                    .formatted(row.getFirst(), String.join(", ", of), row.getLast())));
    // What names its norms goes before what all others are.
    rows.sort(Comparator.comparing(row -> row.contains(ALL_OTHERS)));
    String table = String.join("\n", rows) + "\n\n";
    String page = Files.readString(PAGE);
    if (Boolean.getBoolean("rmsnorm4j.choose.write")) {
      int start = page.indexOf(HEADER) + HEADER.length();
      int end = page.indexOf("\n\n", start) + 2;
      Files.writeString(PAGE, page.substring(0, start) + table + page.substring(end));
    }
    assertThat(rows).hasSizeGreaterThan(10);
    assertThat(Files.readString(PAGE)).contains(HEADER + table);
  }

  /** With {@code -Drmsnorm4j.choose.write=true} the test writes the list. */
  @Test
  void theNamesOfNormsAreThoseOfTheRules() throws IOException {
    Set<String> known = new HashSet<>();
    NormSpec.presets().forEach(preset -> known.add(preset.name()));
    Map<String, List<String>> names = new TreeMap<>();
    for (String field : List.of("model_types", "gguf_architectures")) {
      for (Family family : families(field)) {
        Stream.of(family.modelTypes(), family.ggufArchitectures())
            .flatMap(List::stream)
            .filter(known::add)
            .forEach(
                name ->
                    names
                        .computeIfAbsent(texts(withEpsilon(name, family)), _ -> new ArrayList<>())
                        .add(name));
      }
    }
    List<String> lines = new ArrayList<>();
    names.forEach(
        (norms, of) -> {
          for (int at = 0; at < of.size(); at += MOST_TYPES) {
            List<String> some = of.subList(at, Math.min(of.size(), at + MOST_TYPES));
            lines.add(norms + ": " + String.join(" ", some) + "\n");
          }
        });
    if (Boolean.getBoolean("rmsnorm4j.choose.write")) {
      Files.writeString(NAMED, String.join("", lines));
    }
    assertThat(lines).hasSizeGreaterThan(10);
    assertThat(NAMED).hasContent(String.join("", lines));
  }

  /**
   * A GGUF file has its epsilon, so its rules have none: that of the published model is meant, if
   * the norms are the same but for it.
   */
  static Family withEpsilon(String architecture, Family rules) {
    try {
      return families("model_types").stream()
          .filter(family -> family.modelTypes().stream().anyMatch(bare(architecture)))
          .filter(family -> withoutEpsilon(family).equals(withoutEpsilon(rules)))
          .findFirst()
          .orElse(rules);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Predicate<String> bare(String name) {
    return other -> other.replaceAll("[-_]", "").equals(name.replaceAll("[-_]", ""));
  }

  private static List<NormSpec> withoutEpsilon(Family family) {
    return family.norms().stream().map(rule -> rule.norm().withEpsilon(0)).distinct().toList();
  }

  /** The norm of most names, then each other one with its names. */
  private static String texts(Family family) {
    Map<String, List<String>> names =
        byNorm(
            family,
            rule ->
                rule.groups().isEmpty()
                    ? rule.norm() + " for "
                    : "%s with groupcount=%s for "
                        .formatted(rule.norm(), rule.groups().getFirst()));
    List<String> norms = new ArrayList<>(names.keySet());
    String most = norms.removeLast().replace(" for ", "");
    norms.replaceAll(norm -> norm + String.join(", ", names.get(norm)));
    return String.join("; ", Stream.concat(Stream.of(most), norms.stream()).toList());
  }

  /** Those with such names, without the ones that this library writes. */
  static List<Family> families(String field) throws IOException {
    List<Family> families = new ArrayList<>();
    try (InputStream in = Families.class.getResourceAsStream(TABLE.toString())) {
      for (Object entry : (List<?>) JsonFile.read(TABLE, in.readAllBytes()).get("families")) {
        if (((Map<?, ?>) entry).get(field) instanceof List<?> of
            && !of.getFirst().toString().startsWith("rmsnorm4j")) {
          families.add(Families.read().find(field, of.getFirst().toString()).orElseThrow());
        }
      }
    }
    return families;
  }

  /** The two lines of Java make one norm, and every text can be read. */
  @Test
  void theTextsAreNorms() throws IOException {
    String page = Files.readString(PAGE);
    assertThat(page)
        .contains("NormSpec.parse(\"llama(eps=1e-5)\").builder(4096).gain(gain).build();")
        .contains("RmsNorm.llama(4096).epsilon(1e-5).gain(gain).build();");
    assertThat(NormSpec.parse("llama(eps=1e-5)"))
        .isEqualTo(RmsNorm.llama(4096).epsilon(1e-5).build().spec());
    List<String> texts =
        TEXT.matcher(page).results().map(text -> text.group(1).replace("=E", "=1e-5")).toList();
    assertThat(texts).hasSizeGreaterThan(25);
    for (String text : texts) {
      assertThatCode(() -> NormSpec.parse(text)).as(text).doesNotThrowAnyException();
    }
  }

  /** Whoever reads the code of a norm finds each order. */
  @Test
  void theTableOfCodeHasEveryCastOrder() throws IOException {
    String page = Files.readString(PAGE);
    String table = page.substring(page.indexOf("| the code | text |"));
    assertThat(TEXT.matcher(table.substring(0, table.indexOf("\n\n"))).results())
        .extracting(text -> NormSpec.parse(text.group(1).replace("=E", "=1e-5")).castOrder())
        .contains(CastOrder.values());
  }

  /**
   * The norms of a family by their names in a layer. The text that most of them have is the last
   * one, of all others.
   */
  private static List<Norm> norms(Family family) {
    Map<String, List<String>> names =
        byNorm(
            family,
            rule ->
                "`%s` | %s"
                    .formatted(rule.norm(), rule.epsilon().isEmpty() ? "" : code(rule.epsilon())));
    List<String> norms = new ArrayList<>(names.keySet());
    String most = norms.removeLast();
    List<Norm> each = new ArrayList<>();
    norms.forEach(
        norm -> names.get(norm).forEach(name -> each.add(new Norm(code(List.of(name)), norm))));
    each.add(new Norm(ALL_OTHERS, most));
    return each;
  }

  /** The names in a layer of each of a family's norms, most names last. */
  private static Map<String, List<String>> byNorm(Family family, Function<NormRule, String> norm) {
    Map<String, List<String>> names = new LinkedHashMap<>();
    for (NormRule rule : family.norms()) {
      rule.name()
          .names(Map.of())
          .map(name -> name.replaceFirst(".*}[.]?", ""))
          .forEach(
              name -> names.computeIfAbsent(norm.apply(rule), _ -> new ArrayList<>()).add(name));
    }
    Map<String, List<String>> sorted = new LinkedHashMap<>();
    names.entrySet().stream()
        .sorted(Comparator.comparing(entry -> entry.getValue().size()))
        .forEach(entry -> sorted.put(entry.getKey(), entry.getValue()));
    return sorted;
  }

  private static String code(List<String> words) {
    return words.stream().map(word -> "`" + word + "`").collect(Collectors.joining(", "));
  }
}
