package io.github.rmsnorm4j.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.checkpoint.Family.NormRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The table of families in docs/models.md is that of the rules. */
class ModelsPageTest {
  private static final Path PAGE = Path.of("..", "docs", "models.md");

  @Test
  void theTableOfFamiliesIsThatOfTheRules() throws IOException {
    List<String> rows = new ArrayList<>();
    for (Family family : Families.read().all()) {
      rows.add(row(family));
    }
    assertThat(Files.readString(PAGE)).contains(String.join("\n", rows));
  }

  /** Every field that a rule may have is in the table of fields. */
  @Test
  void everyFieldIsExplained() throws IOException {
    String page = Files.readString(PAGE);
    String fields = page.substring(page.indexOf("| field | meaning |"));
    for (String field : FamilyReader.fields()) {
      assertThat(fields).contains("`" + field + "`");
    }
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
        .map(name -> "`" + name.substring(name.lastIndexOf('.') + 1) + "`")
        .collect(Collectors.joining(", "));
  }

  private static String code(List<String> words) {
    return words.stream().map(word -> "`" + word + "`").collect(Collectors.joining(", "));
  }
}
