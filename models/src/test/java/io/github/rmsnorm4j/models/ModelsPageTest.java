package io.github.rmsnorm4j.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
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

/** The table of families in docs/models-reference.md is that of the rules. */
class ModelsPageTest {
  private static final Path TABLE = Path.of("families.json");
  private static final Path PAGE = Path.of("..", "docs", "models-reference.md");

  @Test
  void theTableOfFamiliesIsThatOfTheRules() throws IOException {
    List<String> rows = new ArrayList<>();
    try (InputStream in = Families.class.getResourceAsStream(TABLE.toString())) {
      for (Object entry : (List<?>) JsonFile.read(TABLE, in.readAllBytes()).get("families")) {
        Map<?, ?> rules = (Map<?, ?>) entry;
        Family family = family(rules);
        assertThat(family.name()).isEqualTo(rules.get("family"));
        rows.add(row(family));
      }
    }
    assertThat(rows).hasSizeGreaterThan(20);
    assertThat(Files.readString(PAGE)).contains(String.join("\n", rows));
  }

  private static Family family(Map<?, ?> rules) throws IOException {
    return rules.get("model_types") instanceof List<?> types
        ? Families.read().ofModelType(TABLE, types.getFirst().toString())
        : Families.read()
            .ofArchitecture(
                TABLE, ((List<?>) rules.get("gguf_architectures")).getFirst().toString());
  }

  /** Every field that a rule may have is in the table of fields. */
  @Test
  void everyFieldIsExplained() throws IOException {
    String page = Files.readString(PAGE);
    String fields = page.substring(page.indexOf("| field | meaning |"));
    assertThat(Stream.of(FamilyReader.OF_FAMILY, FamilyReader.OF_NORM).flatMap(Set::stream))
        .allSatisfy(field -> assertThat(fields).contains("`" + field + "`"));
  }

  private static String row(Family family) {
    String where =
        family.architectures().isEmpty()
            ? code(family.modelTypes())
            : "GGUF: " + code(family.architectures());
    boolean rms = family.norms().getFirst().spec().kind() == NormSpec.Kind.RMS_NORM;
    return "| %s | %s | %s | %s | %s |"
        .formatted(
            family.name(),
            where,
            rms ? "RMSNorm" : "LayerNorm",
            kept(family),
            rms ? "" : family.converted().map(type -> "`" + type + "`").orElse(""));
  }

  private static String kept(Family family) {
    return family.norms().stream()
        .filter(rule -> rule.kept().isPresent())
        .map(NormRule::name)
        .flatMap(name -> name.names(Map.of()))
        .map(name -> "`" + name.replaceFirst(".*[.}]", "") + "`")
        .collect(Collectors.joining(", "));
  }

  private static String code(List<String> words) {
    return words.stream().map(word -> "`" + word + "`").collect(Collectors.joining(", "));
  }
}
