package io.github.rmsnorm4j.models;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.models.Family.NormRule;
import io.github.rmsnorm4j.models.Family.Premise;
import io.github.rmsnorm4j.models.Family.Tied;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What docs/models.md says of families and of the fields of their rules is so. */
class ModelsPageTest {
  private static final Path TABLE = Path.of("families.json");
  private static final Set<String> OLDER =
      Set.of(
          "Llama",
          "Qwen2",
          "Qwen3",
          "Gemma",
          "Gemma 2",
          "Gemma 3",
          "Kimi Linear",
          "GPT-2",
          "GPT-NeoX",
          "OPT",
          "GPT-2 with RMSNorm",
          "GPT-NeoX with RMSNorm",
          "OPT with RMSNorm",
          "T5",
          "Llama (GGUF)",
          "Qwen3 (GGUF)",
          "Phi-3 (GGUF)",
          "OLMo 2 (GGUF)",
          "Gemma (GGUF)",
          "Gemma 2 (GGUF)",
          "Gemma 3 (GGUF)",
          "GPT-2 (GGUF)",
          "GPT-NeoX (GGUF)",
          "T5 (GGUF)");
  private static final Path PAGE = Path.of("..", "docs", "models.md");

  @Test
  void theGainsThatStayAreThoseOfTheRules() throws IOException {
    Map<String, List<String>> names = new LinkedHashMap<>();
    for (Map<?, ?> rules : families()) {
      Family family = family(rules);
      assertThat(family.name()).isEqualTo(rules.get("family"));
      if (rules.containsKey("model_types") && !kept(family).isEmpty()) {
        names.computeIfAbsent(kept(family), _ -> new ArrayList<>()).add(family.name());
      }
    }
    List<String> rows = new ArrayList<>();
    names.forEach((kept, of) -> rows.add("| %s | %s |".formatted(String.join(", ", of), kept)));
    assertThat(rows).hasSizeGreaterThan(5);
    assertThat(Files.readString(PAGE))
        .contains("| --- | --- |\n" + String.join("\n", rows) + "\n\n");
  }

  @Test
  void everyGgufArchitectureIsNamed() throws IOException {
    List<String> architectures = new ArrayList<>();
    for (Map<?, ?> rules : families()) {
      architectures.addAll(family(rules).ggufArchitectures());
    }
    String named =
        architectures.stream().map(name -> "`" + name + "`").collect(Collectors.joining(", "));
    assertThat(architectures).isNotEmpty();
    assertThat(Files.readString(PAGE).replaceAll("\\s+", " ")).contains("knows " + named + ".");
  }

  private static List<Map<?, ?>> families() throws IOException {
    List<Map<?, ?>> families = new ArrayList<>();
    try (InputStream in = Families.class.getResourceAsStream(TABLE.toString())) {
      for (Object entry : (List<?>) JsonFile.read(TABLE, in.readAllBytes()).get("families")) {
        families.add((Map<?, ?>) entry);
      }
    }
    return families;
  }

  private static Family family(Map<?, ?> rules) throws IOException {
    String field = rules.containsKey("model_types") ? "model_types" : "gguf_architectures";
    String type = ((List<?>) rules.get(field)).getFirst().toString();
    return Families.read().find(field, type).orElseThrow();
  }

  /** Only the rules that are older than the field may lack it. */
  @Test
  void rulesSayWhereTheyAreFrom() throws IOException {
    List<String> without = new ArrayList<>();
    for (Map<?, ?> rules : families()) {
      Family family = family(rules);
      assertThat(family.source()).allMatch(source -> source.matches(".*\\w+[./]\\w.*"));
      if (family.source().isEmpty()) {
        without.add(family.name());
      }
    }
    assertThat(OLDER).containsAll(without);
  }

  /** Every field that a rule may have is in the list of fields. */
  @Test
  void everyFieldIsExplained() throws IOException {
    String page = Files.readString(PAGE);
    String fields = page.substring(page.indexOf("### Rules for another family"));
    assertThat(Stream.of(Family.class, NormRule.class, Tied.class, Premise.class))
        .flatMap(type -> List.of(type.getRecordComponents()))
        .map(ModelsPageTest::field)
        .hasSizeGreaterThan(30)
        .allSatisfy(field -> assertThat(fields).contains("`" + field + "`"));
  }

  /** What a component is called in a file. */
  private static String field(RecordComponent component) {
    JsonProperty other = component.getAccessor().getAnnotation(JsonProperty.class);
    String words = component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    return other == null ? words : other.value();
  }

  private static String kept(Family family) {
    return family.norms().stream()
        .filter(rule -> !rule.kept().isEmpty())
        .map(NormRule::name)
        .flatMap(name -> name.names(Map.of()))
        .map(name -> "`" + name.replaceFirst(".*[.}]", "") + "`")
        .distinct()
        .collect(Collectors.joining(", "));
  }
}
