package io.github.rmsnorm4j.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.models.Family.NormRule;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What docs/models.md says of families and of the fields of their rules is so. */
class ModelsPageTest {
  private static final Path TABLE = Path.of("families.json");
  private static final Path PAGE = Path.of("..", "docs", "models.md");

  @Test
  void theGainsThatStayAreThoseOfTheRules() throws IOException {
    List<String> rows = new ArrayList<>();
    for (Map<?, ?> rules : families()) {
      Family family = family(rules);
      assertThat(family.name()).isEqualTo(rules.get("family"));
      if (rules.containsKey("model_types") && !kept(family).isEmpty()) {
        rows.add("| %s | %s |".formatted(family.name(), kept(family)));
      }
    }
    assertThat(rows).hasSizeGreaterThan(5);
    assertThat(Files.readString(PAGE))
        .contains("| --- | --- |\n" + String.join("\n", rows) + "\n\n");
  }

  @Test
  void everyGgufArchitectureIsNamed() throws IOException {
    List<String> architectures = new ArrayList<>();
    for (Map<?, ?> rules : families()) {
      architectures.addAll(family(rules).architectures());
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
    return rules.get("model_types") instanceof List<?> types
        ? Families.read().ofModelType(TABLE, types.getFirst().toString())
        : Families.read()
            .ofArchitecture(
                TABLE, ((List<?>) rules.get("gguf_architectures")).getFirst().toString());
  }

  /** Every field that a rule may have is in the list of fields. */
  @Test
  void everyFieldIsExplained() throws IOException {
    String page = Files.readString(PAGE);
    String fields = page.substring(page.indexOf("### Rules for another family"));
    assertThat(Stream.of(FamilyReader.OF_FAMILY, FamilyReader.OF_NORM).flatMap(Set::stream))
        .allSatisfy(field -> assertThat(fields).contains("`" + field + "`"));
  }

  private static String kept(Family family) {
    return family.norms().stream()
        .filter(rule -> rule.kept().isPresent())
        .map(NormRule::name)
        .flatMap(name -> name.names(Map.of()))
        .map(name -> "`" + name.replaceFirst(".*[.}]", "") + "`")
        .collect(Collectors.joining(", "));
  }
}
