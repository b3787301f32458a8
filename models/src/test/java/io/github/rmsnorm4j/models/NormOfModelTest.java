package io.github.rmsnorm4j.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.rmsnorm4j.NormSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** By the name of a model {@link NormSpec#parse} gives the norm that {@code inspect} prints. */
class NormOfModelTest {
  /** Norms that only some models of a type have are there with these. */
  private static final String SETTINGS =
      ", \"n_groups\": 1, \"mamba_n_groups\": 1, \"mamba_rms_norm\": true, \"q_lora_rank\": 1}";

  @TempDir private Path folder;

  static Stream<String> modelTypes() throws IOException {
    return ChoosePageTest.families("model_types").stream()
        .map(Family::modelTypes)
        .flatMap(Collection::stream);
  }

  @ParameterizedTest
  @MethodSource("modelTypes")
  void aModelTypeGivesTheNormOfItsConfig(String type) throws IOException {
    Path config = folder.resolve("config.json");
    Files.writeString(config, "{\"model_type\": \"" + type + "\"" + SETTINGS);
    Map<NormSpec, Set<String>> norms = new HashMap<>();
    for (InspectedNorm norm : Inspection.ofConfig(config, Optional.empty()).norms()) {
      String name = norm.site().name().replaceFirst(".*\\.N\\.|.*\\.(?=output_attn)", "");
      norms.computeIfAbsent(norm.site().spec(), _ -> new HashSet<>()).add(name);
    }
    assertNamed(type, norms);
  }

  /** Of a name that is a model type, too, the model type's norm is meant. */
  static Stream<String> architectures() throws IOException {
    List<String> types = modelTypes().toList();
    return ChoosePageTest.families("gguf_architectures").stream()
        .map(Family::ggufArchitectures)
        .flatMap(Collection::stream)
        .filter(name -> !types.contains(name));
  }

  @ParameterizedTest
  @MethodSource("architectures")
  void anArchitectureGivesTheNormOfItsRules(String architecture) throws IOException {
    Map<NormSpec, Set<String>> norms = new HashMap<>();
    Family family = Families.read().find("gguf_architectures", architecture).orElseThrow();
    for (Family.NormRule rule : ChoosePageTest.withEpsilon(architecture, family).norms()) {
      rule.name()
          .names(Map.of())
          .map(name -> name.substring(name.lastIndexOf('.') + 1))
          .forEach(name -> norms.computeIfAbsent(rule.norm(), _ -> new HashSet<>()).add(name));
    }
    assertNamed(architecture, norms);
  }

  private static void assertNamed(String name, Map<NormSpec, Set<String>> norms) {
    if (norms.size() == 1) {
      NormSpec norm = norms.keySet().iterator().next();
      assertThat(NormSpec.parse(name)).isEqualTo(norm);
      assertThat(NormSpec.parse(name + "(eps=0.5)")).isEqualTo(norm.withEpsilon(0.5));
      return;
    }
    String beginning = "norm is '%s', such a model has several: ".formatted(name);
    String message =
        catchThrowableOfType(IllegalArgumentException.class, () -> NormSpec.parse(name))
            .getMessage();
    assertThat(message).startsWith(beginning).doesNotContain("\n");
    Map<NormSpec, Set<String>> others = new HashMap<>();
    String[] listed = message.substring(beginning.length()).split("; ");
    for (String other : List.of(listed).subList(1, listed.length)) {
      String[] sides = other.split("( with groupcount=(mamba_)?n_groups)? for ");
      assertThat(others.put(NormSpec.parse(sides[0]), Set.of(sides[1].split(", ")))).isNull();
    }
    others.put(NormSpec.parse(listed[0]), norms.get(NormSpec.parse(listed[0])));
    assertThat(others).isEqualTo(norms);
  }
}
