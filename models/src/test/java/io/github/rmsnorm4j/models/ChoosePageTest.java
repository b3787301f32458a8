package io.github.rmsnorm4j.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.models.Family.NormRule;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The table of docs/choose.md, from {@code model_type} to the text of a norm, is the rules'. */
class ChoosePageTest {
  private static final Path TABLE = Path.of("families.json");
  private static final Path PAGE = Path.of("..", "docs", "choose.md");

  private static final String HEADER =
      "| `model_type` | norms | text | epsilon |\n| --- | --- | --- | --- |\n";

  private static final String ALL_OTHERS = "all others";

  private record Norm(String name, String text) {}

  /** So many are read in one row of a table. */
  private static final int MOST_TYPES = 12;

  private static final Pattern TEXT =
      Pattern.compile("`((?:rmsnorm|llama|gemma|t5|layernorm|pytorch|l2)(?:\\([^`]*\\))?)`");

  /** With {@code -Drmsnorm4j.choose.write=true} the test writes the table. */
  @Test
  void theTableIsThatOfTheRules() throws IOException {
    Map<Norm, List<String>> types = new LinkedHashMap<>();
    for (Family family : families()) {
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

  /** Those of models of Hugging Face, without the ones that this library writes. */
  private static List<Family> families() throws IOException {
    List<Family> families = new ArrayList<>();
    try (InputStream in = Families.class.getResourceAsStream(TABLE.toString())) {
      for (Object entry : (List<?>) JsonFile.read(TABLE, in.readAllBytes()).get("families")) {
        if (((Map<?, ?>) entry).get("model_types") instanceof List<?> of
            && !of.getFirst().toString().startsWith("rmsnorm4j")) {
          families.add(Families.read().find("model_types", of.getFirst().toString()).orElseThrow());
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

  /**
   * The norms of a family by their names in a layer. The text that most of them have is the last
   * one, of all others.
   */
  private static List<Norm> norms(Family family) {
    Map<String, List<String>> names = new LinkedHashMap<>();
    for (NormRule rule : family.norms()) {
      String norm =
          "`%s` | %s".formatted(rule.norm(), rule.epsilon().isEmpty() ? "" : code(rule.epsilon()));
      rule.name()
          .names(Map.of())
          .map(name -> name.replaceFirst(".*}[.]?", ""))
          .forEach(name -> names.computeIfAbsent(norm, _ -> new ArrayList<>()).add(name));
    }
    List<String> norms = new ArrayList<>(names.keySet());
    norms.sort(Comparator.comparing(norm -> names.get(norm).size()));
    String most = norms.removeLast();
    List<Norm> each = new ArrayList<>();
    norms.forEach(
        norm -> names.get(norm).forEach(name -> each.add(new Norm(code(List.of(name)), norm))));
    each.add(new Norm(ALL_OTHERS, most));
    return each;
  }

  private static String code(List<String> words) {
    return words.stream().map(word -> "`" + word + "`").collect(Collectors.joining(", "));
  }
}
