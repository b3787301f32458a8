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

  private static final Pattern TEXT =
      Pattern.compile("`((?:rmsnorm|llama|gemma|t5|layernorm|pytorch|l2)(?:\\([^`]*\\))?)`");

  @Test
  void theTableIsThatOfTheRules() throws IOException {
    Map<List<String>, List<String>> types = new LinkedHashMap<>();
    try (InputStream in = Families.class.getResourceAsStream(TABLE.toString())) {
      for (Object entry : (List<?>) JsonFile.read(TABLE, in.readAllBytes()).get("families")) {
        if (((Map<?, ?>) entry).get("model_types") instanceof List<?> of
            && !of.getFirst().toString().startsWith("rmsnorm4j")) {
          Family family =
              Families.read().find("model_types", of.getFirst().toString()).orElseThrow();
          types.computeIfAbsent(norms(family), n -> new ArrayList<>()).addAll(family.modelTypes());
        }
      }
    }
    List<String> rows = new ArrayList<>();
    types.forEach((norms, of) -> norms.forEach(norm -> rows.add("| " + code(of) + norm)));
    assertThat(rows).hasSizeGreaterThan(10);
    assertThat(Files.readString(PAGE)).contains("\n" + String.join("\n", rows) + "\n\n");
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
   * A line for each text of a norm, with the names of the norms in a layer that have it. The text
   * that most names have is the last one, of all others.
   */
  private static List<String> norms(Family family) {
    Map<String, List<String>> names = new LinkedHashMap<>();
    for (NormRule rule : family.norms()) {
      String keys = rule.epsilon().isEmpty() ? "" : code(rule.epsilon());
      rule.name()
          .names(Map.of())
          .map(name -> name.replaceFirst(".*}[.]?", ""))
          .forEach(
              name ->
                  names
                      .computeIfAbsent(
                          "`%s` | %s |".formatted(rule.norm(), keys), n -> new ArrayList<>())
                      .add(name));
    }
    List<String> norms = new ArrayList<>(names.keySet());
    norms.sort(Comparator.comparing(norm -> names.get(norm).size()));
    List<String> lines = new ArrayList<>();
    for (String norm : norms) {
      String of = norm.equals(norms.getLast()) ? "all others" : code(names.get(norm));
      lines.add(" | " + (norms.size() == 1 ? "all" : of) + " | " + norm);
    }
    return lines;
  }

  private static String code(List<String> words) {
    return words.stream().map(word -> "`" + word + "`").collect(Collectors.joining(", "));
  }
}
