package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.FamilyGuess;
import io.github.rmsnorm4j.models.GainStatistics;
import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Rules of a stranger: each is refused in one short line, or does what it says, and none takes for
 * ever.
 */
class HostileMapTest {
  private static final int LONGEST_MESSAGE = 2000;

  @TempDir private Path folder;
  private Path model;
  private int maps;

  @BeforeEach
  void model() throws IOException {
    model = HuggingFaceFolder.write(Layouts.ALL.get("llama").model(StoredType.F32, 3), folder, 1);
  }

  /** Inspects by rules that are Llama's but for the given fields. */
  private Inspection inspect(String fields) throws IOException {
    Path map = folder.resolve("map" + maps++ + ".json");
    Files.writeString(map, "{\"family\": \"Mine\", \"like\": \"Llama\", %s}".formatted(fields));
    try (StoredModel stored = StoredModel.open(model)) {
      return Inspection.of(stored, Optional.of(map));
    }
  }

  private void refused(String fields, String problem) {
    assertThatThrownBy(() -> inspect(fields))
        .isInstanceOf(FormatException.class)
        .message()
        .hasLineCount(1)
        .hasSizeLessThan(LONGEST_MESSAGE)
        .contains(problem);
  }

  private static String others(String pattern) {
    return "\"others\": [\"%s\"]".formatted(pattern);
  }

  @Test
  void listsThatStandForMoreNamesThanAModelHas() {
    refused(others("{a,b}".repeat(40) + "{,}"), "at most 262144");
    refused(others("{a,}".repeat(200)), "at most 262144");
    refused(others("{a,}".repeat(3000)), "has 12000 characters, at most 1000");
    refused(others("{" + ",".repeat(20_000)), "at most 1000");
    refused(others("{" + ",".repeat(999)), "has braces that are not in pairs");
  }

  /** A counter of 0 layers leaves no names, but the lists in front of another counter stay. */
  @Test
  void aCounterOfNothingHidesNoLists() throws IOException {
    model =
        HuggingFaceFolder.write(
            Layouts.ALL.get("llama").model(StoredType.F32, 3).with("zero", 0),
            folder.resolve("zero"),
            1);
    String counts = "\"counts\": {\"layer\": [\"num_hidden_layers\"], \"z\": [\"zero\"]}, ";
    String lists = "{z}" + "{a,b}".repeat(40) + "{layer}";
    for (String norm :
        new String[] {
          "{\"name\": \"n.{layer}\", \"gain\": false, \"consumers\": [\"%s\"]}".formatted(lists),
          "{\"name\": \"%s\", \"gain\": false, \"consumers\": [\"{head}\"]}".formatted(lists)
        }) {
      refused(counts + "\"norms\": [" + norm + "]", "at most 262144");
    }
  }

  @Test
  void listsWithinLists() {
    refused(others("{a,".repeat(40) + "b" + "}".repeat(40)), "or within others");
    refused(others("a}"), "has braces that are not in pairs");
  }

  @Test
  void prefixesAreNoPatterns() {
    refused("\"prefixes\": [\"{a,b}{a,b}{a,b}\", \"model.\"]", "prefixes has '{a,b}{a,b}{a,b}', ");
  }

  /** As if the field were not there; the model's own prefix is found. */
  @Test
  void noPrefixes() throws IOException {
    assertThat(inspect("\"prefixes\": []").norms()).isEqualTo(inspect("\"source\": []").norms());
    Path map = folder.resolve("map.json");
    Files.writeString(map, "{\"family\": \"a\", \"like\": \"Llama\", \"prefixes\": []}");
    assertThat(Inspection.ofConfig(model.resolve("config.json"), Optional.of(map)).norms())
        .first()
        .matches(norm -> norm.site().name().equals("layers.N.input_layernorm"));
  }

  /** A name is no pattern, whatever is in it. */
  @Test
  void bracesInNamesOfTensors() throws IOException {
    TinyModel tiny = Layouts.ALL.get("llama").model(StoredType.F32, 3);
    Map<String, Values> tensors = new LinkedHashMap<>();
    tiny.tensors().forEach((name, values) -> tensors.put("a{b,c.{layer}" + name, values));
    tensors.keySet().removeIf(name -> name.endsWith("lm_head.weight"));
    model =
        HuggingFaceFolder.write(new TinyModel(tiny.config(), tensors), folder.resolve("braces"), 1);
    refused("\"model_types\": []", "lacks model.embed_tokens.weight");
    try (StoredModel stored = StoredModel.open(model)) {
      assertThat(new FamilyGuess(stored).gains().keySet())
          .allMatch(name -> name.startsWith("a{b,c"));
      assertThat(new FamilyGuess(stored).map()).isEmpty();
    }
  }

  /** Without a counter the consumers are looked up again for each layer. */
  @Test
  void consumersOfEachLayerCount() throws IOException {
    model =
        HuggingFaceFolder.write(
            Layouts.ALL.get("llama").model(StoredType.F32, 3).with("num_hidden_layers", 10_000),
            folder.resolve("deep"),
            1);
    String same = "model.embed_tokens" + "{" + ",".repeat(900) + "}";
    refused(
        "\"norms\": [{\"name\": \"n.{layer}\", \"gain\": false, \"consumers\": [\"%s\"]}]"
            .formatted(same),
        "at most 262144");
  }

  @Test
  void manyNamesWithAStar() throws IOException {
    String stars = ("\"a*\",").repeat(100_000);
    Inspection inspection = inspect("\"others\": [" + stars + "\"rotary*\"]");
    assertThat(inspection.model().unknown()).isEmpty();
  }

  /** An entry of a list may be empty, the last too. */
  @Test
  void anEmptyEntryIsOne() throws IOException {
    Inspection inspection =
        inspect("\"norms\": [{\"name\": \"model.{norm,}\", \"optional\": true}]");
    assertThat(inspection.norms()).singleElement();
    assertThat(inspect(others("x{q,}")).model().unknown()).isEmpty();
  }

  /** A gain that rules name again and again is read once. */
  @Test
  void aNormThatIsNamedOftenIsReadOnce() throws IOException {
    String rule = "{\"name\": \"model.norm{" + ",".repeat(899) + "}\"}";
    String rules = (rule + ",").repeat(79) + rule;
    List<InspectedNorm> norms = inspect("\"norms\": [" + rules + "]").norms();
    GainStatistics read = norms.getFirst().gain().orElseThrow();
    assertThat(norms).hasSize(72_000).allMatch(norm -> norm.gain().orElseThrow() == read);
  }

  @Test
  void theHeadIsOneName() {
    refused("\"head\": \"{,}\"", "the head '{,}' stands for 2 names, it must stand for one");
    refused("\"embeddings\": [\"{a,b}\"]", "'{a,b}' stands for 2 names, it must stand for one");
  }

  @Test
  void aSignThatIsEmptyMeansThatThereIsNoSuchTensor() throws IOException {
    assertThat(
            inspect("\"may_lack\": {\"layer\": \"\"}").norms().stream()
                .map(norm -> norm.site().name()))
        .containsExactly("model.norm");
    assertThat(inspect("\"may_lack\": {\"layer\": \"model.layers.0.*\"}").norms()).hasSize(7);
    assertThat(inspect("\"may_lack\": {\"layer\": \"model.norm.weight\"}").norms()).hasSize(7);
  }

  @Test
  void anEpsilonIsFiniteAndNotNegative() {
    for (String epsilon : new String[] {"1e400", "-1", "-1e-9"}) {
      refused(
          "\"norm\": \"llama(eps=%s)\"".formatted(epsilon),
          "norm is 'llama(eps=%s)', eps may be a finite number of 0 or more".formatted(epsilon));
    }
    refused("\"tied_head_power_of_width\": 1e400", "is Infinity, it must be finite");
  }

  /** Texts and names of fields of up to a mebibyte. */
  @Test
  void longTextsAreShortened() throws IOException {
    String text = "x".repeat(900_000);
    for (String field : new String[] {"norm", "head", "converted"}) {
      refused("\"%s\": \"%s\"".formatted(field, text), "at most 1000");
    }
    refused("\"%s\": 1".formatted("x".repeat(40_000)), "is not a known field");
    refused("\"norm\": \"%s\"".formatted("x".repeat(900)), "xxx...', it may be rmsnorm, layernorm");
    refused("\"tied\": \"%s\"".formatted("x".repeat(900)), "tied: it must be an object or");
    String prefixes = "\"model%d.\",".formatted(7).repeat(50_000);
    refused("\"prefixes\": [" + prefixes + "\"other.\"]", "lacks model7.embed_tokens.weight");
    Path map = folder.resolve("like.json");
    for (String field : new String[] {"family", "like"}) {
      Files.writeString(map, "{\"family\": \"a\", \"%s\": \"%s\"}".formatted(field, text));
      try (StoredModel stored = StoredModel.open(model)) {
        assertThatThrownBy(() -> stored.norms(Optional.of(map)))
            .isInstanceOf(FormatException.class)
            .message()
            .hasSizeLessThan(LONGEST_MESSAGE);
      }
    }
  }

  /** Bytes that look like UTF-32 with a character that there is not. */
  @Test
  void aMapOfAnotherEncodingIsRefused() throws IOException {
    Path map = Files.write(folder.resolve("map"), new byte[] {0, 0, 0, '{', 0x7f, 0, 0, 1});
    try (StoredModel stored = StoredModel.open(model)) {
      assertThatThrownBy(() -> stored.norms(Optional.of(map)))
          .isInstanceOf(FormatException.class)
          .hasMessageContaining("is no JSON: it is not UTF-8");
    }
  }

  @Test
  void longValuesOfTheModelAreShortened() throws IOException {
    TinyModel tiny = Layouts.ALL.get("llama").model(StoredType.F32, 3);
    String text = "x".repeat(900_000);
    int number = 0;
    for (String key : new String[] {"model_type", "num_hidden_layers", "tie_word_embeddings"}) {
      Path in = HuggingFaceFolder.write(tiny.with(key, text), folder.resolve("in" + number++), 1);
      try (StoredModel stored = StoredModel.open(in)) {
        assertThatThrownBy(() -> stored.norms(Optional.empty()))
            .isInstanceOf(FormatException.class)
            .message()
            .hasSizeLessThan(LONGEST_MESSAGE)
            .contains(key, "xxx");
      }
    }
  }
}
