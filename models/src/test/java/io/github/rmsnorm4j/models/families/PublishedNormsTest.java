package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.Inspection;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The norms of families are those of their published code. */
class PublishedNormsTest extends WithRewriter {
  /** Each config.json of published-norms.txt with the lines below it. */
  static Stream<String> configs() throws IOException {
    try (InputStream in = PublishedNormsTest.class.getResourceAsStream("published-norms.txt")) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return Arrays.stream(text.strip().split("\n\n")).filter(block -> !block.startsWith("#"));
    }
  }

  @ParameterizedTest
  @MethodSource("configs")
  void theSettingsTellTheNorms(String block) throws IOException {
    List<String> lines = block.lines().toList();
    Map<String, NormSpec> expected = new TreeMap<>();
    for (String line : lines.subList(1, lines.size())) {
      int colon = line.indexOf(": ");
      NormSpec spec = NormSpec.parse(line.substring(0, colon));
      for (String name : line.substring(colon + 2).split(" ")) {
        assertThat(expected.put(name, spec)).isNull();
      }
    }
    Path config = Files.writeString(folder.resolve("config.json"), lines.getFirst());
    Inspection found = Inspection.ofConfig(config, Optional.empty());
    Map<String, NormSpec> norms = new TreeMap<>();
    for (InspectedNorm norm : found.norms()) {
      String name = norm.site().name().replaceFirst("^(?!model\\.(en|de)coder).*\\.N\\.", "");
      assertThat(norms.put(name, norm.site().spec())).isNull();
    }
    assertThat(norms).isEqualTo(expected);
    assertThat(found.remarks()).hasSize(1);
  }

  @Test
  void aSettingThatMakesOtherNormsIsTold() throws IOException {
    Path config = folder.resolve("config.json");
    Files.writeString(config, "{\"model_type\": \"falcon_h1\", \"mamba_norm_before_gate\": true}");
    assertThat(Inspection.ofConfig(config, Optional.empty()).remarks())
        .anyMatch(remark -> remark.contains("mamba_norm_before_gate is true"));
  }
}
