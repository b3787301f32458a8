package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.rmsnorm4j.cli.inspect.InspectionText;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.cli.testing.TestTensor;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import io.github.rmsnorm4j.models.rewrite.Prospects;
import io.github.rmsnorm4j.models.transformer.ModelFolder;
import io.github.rmsnorm4j.models.transformer.Stories260K;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rmsnorm inspect}. What it finds is tested in models, with models of every family. */
class InspectTest {
  @TempDir Path folder;

  private static CommandResult inspect(Object... args) {
    List<String> all = new ArrayList<>(List.of("inspect"));
    Arrays.stream(args).map(Object::toString).forEach(all::add);
    return CommandResult.of(all.toArray(String[]::new));
  }

  private Path stories() throws IOException {
    Path model = folder.resolve("stories");
    try (Weights weights = Stories260K.weights()) {
      ModelFolder.save(model, weights);
    }
    return model;
  }

  @Test
  void showsTheNormsOfATrainedModel() throws IOException {
    CommandResult result = inspect(stories());
    assertThat(result.status()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(result.out().lines())
        .allMatch(line -> line.length() < 80)
        .contains(
            "Llama: 11 norms; the head is tied to the embedding",
            "model.layers.N.input_layernorm",
            "  output goes to self_attn.q_proj, self_attn.k_proj, self_attn.v_proj",
            "    layer      least       mean   greatest   dead  negative  looks like",
            "        4     0.5238      1.040      1.325      0         0  g")
        .doesNotContain("warning");
    assertThat(result.out())
        .contains("epsilon 1e-5 (rms_norm_eps), cast order llama")
        .contains("with --untie")
        .contains("in Java: NormSpec.parse(\"llama(eps=1e-5)\").builder(64).gain(gain).build()");
  }

  @Test
  void writesAPageAndFigures() throws IOException {
    Path page = folder.resolve("norms.html");
    Path data = folder.resolve("norms.json");
    CommandResult result = inspect(stories(), "--report", page, "--json", data);
    assertThat(result.status()).isZero();
    assertThat(result.out().lines())
        .endsWith("--report wrote " + page, "--json wrote " + data)
        .allMatch(line -> line.length() < 80 || line.startsWith("--"));
    assertThat(page).content().contains("The norms of stories").contains("Gains by depth");
    assertThat(data)
        .content()
        .contains("\"family\" : \"Llama\"")
        .contains("\"keptBecause\" : null")
        .contains("\"spec\" : \"llama(eps=1e-5)\"")
        .contains("\"looksLike\" : 0.0");
    CommandResult again = inspect(stories(), "--report", page);
    assertThat(again.status()).isEqualTo(2);
    assertThat(again.err()).contains("exists already; --force replaces it").hasLineCount(1);
  }

  /** Also with --force, and through a link. */
  @Test
  void neverReplacesAFileThatItReads() throws IOException {
    Path model = stories();
    Path map =
        Files.writeString(folder.resolve("map.json"), "{\"family\":\"A\",\"like\":\"Llama\"}");
    Path link = Files.createSymbolicLink(folder.resolve("link.json"), model.resolve("config.json"));
    Path html = folder.resolve("link.html");
    Files.createSymbolicLink(html, model.resolve("model.safetensors"));
    for (Path file : List.of(model.resolve("config.json"), link, map, html)) {
      String option = file.equals(html) ? "--report" : "--json";
      byte[] before = Files.readAllBytes(file);
      CommandResult result = inspect(model, "--map", map, option, file, "--force");
      assertThat(result.status()).isEqualTo(2);
      assertThat(result.err())
          .startsWith(
              "rmsnorm inspect: %s is %s, which is read: name another file".formatted(option, file))
          .hasLineCount(1);
      assertThat(file).hasBinaryContent(before);
    }
    Path own = model.resolve("norms.json");
    assertThat(inspect(model, "--json", own).status()).isZero();
    assertThat(inspect(model, "--json", own, "--force").status()).isZero();
  }

  /** What stands in the way of a fold is told; it does not stand in the way of inspecting. */
  @Test
  void aLinkThatLeadsOutIsTold() throws IOException {
    Path model = stories();
    Files.createSymbolicLink(model.resolve("notes.md"), Path.of("../secret.txt"));
    Files.writeString(folder.resolve("secret.txt"), "secret");
    CommandResult result = inspect(model);
    assertThat(result.status()).isZero();
    assertThat(result.out()).contains("is a link to ../secret.txt");
  }

  /** A Llama of one layer whose gains are near 0, with a tensor that no rule tells of. */
  private Path oddModel() throws IOException {
    Path model = Files.createDirectories(folder.resolve("odd"));
    Files.writeString(
        model.resolve("config.json"),
        "{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"rms_norm_eps\": 1e-06}");
    double[] small = {-0.1, 0.1, -0.2, 0.0};
    String layer = "model.layers.0.";
    TestTensor.write(
        model.resolve("model.safetensors"),
        TestTensor.random("model.embed_tokens.weight", Dtype.BF16, 0, 1, 5, 4),
        TestTensor.random("lm_head.weight", Dtype.BF16, 0, 9, 5, 4),
        TestTensor.of("model.norm.weight", Dtype.BF16, small, 4),
        TestTensor.of(layer + "input_layernorm.weight", Dtype.BF16, small, 4),
        TestTensor.of(layer + "post_attention_layernorm.weight", Dtype.BF16, small, 4),
        TestTensor.random(layer + "self_attn.q_proj.weight", Dtype.BF16, 0, 2, 4, 4),
        TestTensor.random(layer + "self_attn.k_proj.weight", Dtype.BF16, 0, 3, 4, 4),
        TestTensor.random(layer + "self_attn.v_proj.weight", Dtype.BF16, 0, 4, 4, 4),
        TestTensor.random(layer + "self_attn.o_proj.weight", Dtype.BF16, 0, 5, 4, 4),
        TestTensor.random(layer + "mlp.gate_proj.weight", Dtype.BF16, 0, 6, 4, 4),
        TestTensor.random(layer + "mlp.router.weight", Dtype.BF16, 0, 6, 4, 4),
        TestTensor.random(layer + "mlp.down_proj.weight", Dtype.BF16, 0, 8, 4, 4));
    return model;
  }

  /** A Mamba-2 of one layer with two groups. */
  private Path mamba() throws IOException {
    Path model = Files.createDirectories(folder.resolve("mamba"));
    Files.writeString(
        model.resolve("config.json"),
        "{\"model_type\": \"mamba2\", \"num_hidden_layers\": 1, \"layer_norm_epsilon\": 1e-5,"
            + " \"n_groups\": 2}");
    double[] gain = {0.9, 1.1, 1.2, 0.8};
    String layer = "backbone.layers.0.";
    TestTensor.write(
        model.resolve("model.safetensors"),
        TestTensor.random("backbone.embeddings.weight", Dtype.BF16, 0, 1, 5, 4),
        TestTensor.random("lm_head.weight", Dtype.BF16, 0, 9, 5, 4),
        TestTensor.of("backbone.norm_f.weight", Dtype.BF16, gain, 4),
        TestTensor.of(layer + "norm.weight", Dtype.BF16, gain, 4),
        TestTensor.of(layer + "mixer.norm.weight", Dtype.BF16, gain, 4),
        TestTensor.random(layer + "mixer.in_proj.weight", Dtype.BF16, 0, 2, 9, 4),
        TestTensor.random(layer + "mixer.out_proj.weight", Dtype.BF16, 0, 3, 4, 4));
    return model;
  }

  /** The text is one of the library; the command line has no gates, so --like does not take it. */
  @Test
  void namesTheGateAndTheGroups() throws IOException {
    CommandResult result = inspect(mamba());
    assertThat(result.status()).isZero();
    assertThat(result.out().lines()).allMatch(line -> line.length() < 80);
    String text = result.out().replaceAll("\\s+", " ");
    assertThat(text)
        .contains(
            "backbone.layers.N.mixer.norm RMSNorm of 4 in 2 groups of 2, gate silu before, epsilon"
                + " 1e-5 (layer_norm_epsilon), cast order float32; the architecture stores the gain"
                + " as g, here in bf16 not told by the model: cast order and groups are those of Mamba-2's own kernel;")
        .contains(
            "output goes to out_proj fold: yes in Java:"
                + " NormSpec.parse(\"rmsnorm(eps=1e-5, gate=silu before, groupcount=2)\")"
                + " .builder(4).gain(gain).build()")
        .contains(
            "as --like takes it: llama(eps=1e-5) not told by the model: the cast order is that of"
                + " transformers; mamba_ssm has the order float32 output goes to mixer.in_proj fold: yes")
        .doesNotContain("warning");
  }

  @Test
  void warnsOfNumbersAndTensorsThatTheRulesDoNotExpect() throws IOException {
    CommandResult result = inspect(oddModel());
    assertThat(result.status()).isZero();
    String text = result.out().replaceAll("\\s+", " ");
    assertThat(text)
        .contains("warning: the rules of Llama do not cover 1 tensor (model.layers.0.mlp.router")
        .contains("fold: no, the rules of Llama do not cover model.layers.0.mlp.router")
        .contains("fold: no, model.layers.N.mlp.up_proj.weight, which takes its output, is not in")
        .contains("warning: the stored numbers look like g - 1, but the architecture stores g.")
        .contains("convert: no, it has RMSNorm already");
  }

  /** Prospects tell what fold would do with a copy; that this one is none is told, too. */
  @Test
  void aSecondHeadIsTold() throws IOException {
    Path model = oddModel();
    Path config = model.resolve("config.json");
    String tied =
        Files.readString(config)
            .replace("{", "{\"tie_word_embeddings\": true, \"hidden_size\": 4, ");
    Files.writeString(config, tied);
    Path map = folder.resolve("map.json");
    Files.writeString(
        map,
        "{\"family\": \"Mine\", \"like\": \"Llama\", \"others\": [\"model.layers.0.mlp.router\"]}");
    CommandResult result = inspect(model, "--map", map);
    assertThat(result.out().replaceAll("\\s+", " "))
        .contains("tied to model.embed_tokens.weight, but another lm_head.weight is stored")
        .contains(
            "fold: only with --untie, because the head is also the token embedding, and if"
                + " lm_head.weight is a copy of it");
    CommandResult fold =
        CommandResult.of(
            "fold",
            "" + model,
            "-o",
            "" + folder.resolve("out"),
            "--untie",
            "--map",
            "" + map,
            "--trust-gains");
    assertThat(fold.status()).isEqualTo(1);
    assertThat(fold.err()).contains("lm_head.weight is not model.embed_tokens.weight");
    assertThat(folder.resolve("out.partial")).doesNotExist();
  }

  /** The encoder of a T5; one of its names in each block has the number of the block twice. */
  private Path encoder() throws IOException {
    Path model = Files.createDirectories(folder.resolve("t5"));
    Files.writeString(
        model.resolve("config.json"),
        "{\"model_type\": \"t5\", \"num_layers\": 3, \"d_model\": 4, \"layer_norm_epsilon\": 1e-6}");
    List<TestTensor> tensors = new ArrayList<>();
    tensors.add(TestTensor.random("shared.weight", Dtype.F32, 0, 1, 5, 4));
    tensors.add(TestTensor.random("encoder.final_layer_norm.weight", Dtype.F32, 1, 2, 4));
    for (int block = 0; block < 3; block++) {
      String layer = "encoder.block." + block + ".layer.";
      for (String name : List.of("q", "k", "v", "o")) {
        String weight = layer + "0.SelfAttention." + name + ".weight";
        tensors.add(TestTensor.random(weight, Dtype.F32, 0, 3, 4, 4));
      }
      for (String name : List.of("wi", "wo")) {
        String weight = layer + "1.DenseReluDense." + name + ".weight";
        tensors.add(TestTensor.random(weight, Dtype.F32, 0, 4, 4, 4));
      }
      tensors.add(TestTensor.random(layer + "0.layer_norm.weight", Dtype.F32, 1, 5, 4));
      tensors.add(TestTensor.random(layer + "1.layer_norm.weight", Dtype.F32, 1, 6, 4));
    }
    TestTensor.write(model.resolve("model.safetensors"), tensors.toArray(TestTensor[]::new));
    return model;
  }

  @Test
  void ofANameTheNumberOfTheLayerAloneBecomesN() throws IOException {
    Path model = encoder();
    assertThat(inspect(model).out().lines().filter(line -> line.startsWith("encoder")))
        .containsExactly(
            "encoder.block.N.layer.0.layer_norm",
            "encoder.block.N.layer.1.layer_norm",
            "encoder.final_layer_norm");
    CommandResult fold =
        CommandResult.of("fold", model, "-o", folder.resolve("folded"), "--trust-gains");
    assertThat(fold.status()).as(fold.err()).isZero();
    assertThat(fold.out().replaceAll("\\s+", " "))
        .contains(
            "encoder.block.N.layer.1.layer_norm, N = 0 to 2: folded into"
                + " encoder.block.N.layer.1.DenseReluDense.wi ")
        .doesNotContain("layer.N");
  }

  /** A name can hold what would colour a terminal, turn its text around or begin a line. */
  @Test
  void namesAreSafeToPrint() throws IOException {
    Path model = Files.createDirectories(folder.resolve("hostile"));
    Files.writeString(
        model.resolve("config.json"),
        "{\"model_type\": \"llama\", \"num_hidden_layers\": 0, \"rms_norm_eps\": 1e-06}");
    TestTensor.write(
        model.resolve("model.safetensors"),
        TestTensor.random("model.embed_tokens.weight", Dtype.F32, 0, 1, 5, 4),
        TestTensor.random("lm_head.weight", Dtype.F32, 0, 1, 5, 4),
        TestTensor.random("model.norm.weight", Dtype.F32, 1, 1, 4),
        TestTensor.random("a\u001b[31m\nb\u202e", Dtype.F32, 1, 1, 4));
    Path page = folder.resolve("hostile.html");
    String out = inspect(model, "--report", page).out();
    String shown = "a\\u{1b}[31m\\nb\\u{202e}";
    assertThat(out)
        .contains("do not cover " + shown)
        .contains("(" + shown + ")")
        .doesNotContain("\u001b", "\u202e");
    assertThat(page).content().contains(shown).doesNotContain("\u001b", "\u202e");
  }

  /** The last norm alone, which is all that a model without layers needs. */
  private String withoutLayers(String settings) throws IOException {
    Path model = Files.createDirectories(folder.resolve("no-layers"));
    Files.writeString(
        model.resolve("config.json"),
        "{\"hidden_size\": 4, \"num_hidden_layers\": 0, " + settings + "}");
    TestTensor.write(
        model.resolve("model.safetensors"),
        TestTensor.random("model.embed_tokens.weight", Dtype.F32, 0, 1, 5, 4),
        TestTensor.of("model.norm.weight", Dtype.F32, new double[] {-0.25, 0, 0.25, 0.5}, 4));
    CommandResult result = inspect(model);
    assertThat(result.status()).as(result.err()).isZero();
    return result.out().replaceAll("\\s+", " ");
  }

  @Test
  void saysThatGemmasGainsAreShownWithTheirOne() throws IOException {
    String gemma = withoutLayers("\"model_type\": \"gemma\", \"rms_norm_eps\": 1e-6");
    assertThat(gemma)
        .contains("gain g = 1 + stored number; \"looks like\" is about the stored numbers")
        .contains(" 0.7500 1.125 1.500 0 0 g - 1");
    assertThat(withoutLayers("\"model_type\": \"llama\", \"tie_word_embeddings\": true"))
        .doesNotContain("1 + stored");
  }

  @Test
  void anEpsilonThatTheModelDoesNotSetIsMarked() throws IOException {
    String marked = "epsilon 1e-6 (default of the family, the model does not set it), cast order";
    String llama = "\"model_type\": \"llama\", \"tie_word_embeddings\": true";
    assertThat(withoutLayers(llama)).contains(marked);
    assertThat(withoutLayers(llama + ", \"rms_norm_eps\": null")).contains(marked);
    assertThat(withoutLayers(llama + ", \"rms_norm_eps\": 1e-6"))
        .contains("epsilon 1e-6 (rms_norm_eps), cast order");
  }

  @Test
  void itsHelpIsAboutItsOwnFigures() {
    assertThat(inspect("--help").out())
        .contains("Write all figures to this file as JSON", "N in a name stands for")
        .doesNotContain("round", "training");
  }

  /** What the chart of a page is drawn from. */
  private String chart(Path model, Object... more) throws IOException {
    Path page = folder.resolve("chart.html");
    List<Object> all = new ArrayList<>(List.of(model, "--report", page, "--force"));
    all.addAll(Arrays.asList(more));
    CommandResult result = inspect(all.toArray());
    assertThat(result.status()).as(result.err()).isZero();
    return Files.readString(page);
  }

  @Test
  void thePageHasATableForEachNormAndWholeLayers() throws IOException {
    String page = chart(stories());
    assertThat(page)
        .contains("Llama with 11 norms; the head is tied to the embedding.")
        .contains("<h2>model.layers.N.post_attention_layernorm</h2>")
        .contains("<td class=\"number\">0.5238</td>")
        .contains("\"ticks\":[0.0,1.0,2.0,3.0,4.0]")
        .contains("\"name\":\"input_layernorm\"", "\"name\":\"post_attention_layernorm\"")
        .contains("\"low\":0.49")
        .containsOnlyOnce("Gains by depth")
        .containsOnlyOnce("<pre");
  }

  /** A chart of one line has no legend, so its title has the name; many ranges hide each other. */
  @Test
  void thePagesChartFitsHowManyLinesThereAre() throws IOException {
    Path map =
        Files.writeString(
            folder.resolve("map.json"),
            """
            {"family": "One", "like": "Llama", "norms": [
              {"name": "model.layers.{layer}.input_layernorm", "kept": "residual"}]}
            """);
    assertThat(chart(stories(), "--map", map))
        .contains("Mean gain by layer: model.layers.N.input_layernorm</h3>");
    Files.writeString(
        map,
        """
        {"family": "Four", "like": "Llama", "norms": [
          {"name": "model.layers.{layer}.input_layernorm", "kept": "residual"},
          {"name": "model.layers.{layer}.post_attention_layernorm", "kept": "residual"},
          {"name": "model.layers.{layer}.input_layernorm", "kept": "rotation"},
          {"name": "model.layers.{layer}.post_attention_layernorm", "kept": "rotation"}]}
        """);
    assertThat(chart(folder.resolve("stories"), "--map", map))
        .contains("Mean gain by layer</h3>", "The tables below have the least and the greatest")
        .doesNotContain("\"low\":0.");
  }

  /** What fold and convert say themselves. */
  @Test
  void saysWhatFoldAndConvertWouldDo() {
    String text =
        inspect(Shell.CHECKOUT.resolve("examples/tiny-gpt2")).out().replaceAll("\\s+", " ");
    assertThat(text)
        .contains("convert: only with --untie, because the head is also the token embedding")
        .contains("output goes to attn.c_attn fold: yes")
        .contains("fold: no, wte.weight has no bias, which would take the norm's bias");
  }

  @Test
  void wrongUseIsOneLine() throws IOException {
    one(inspect(""), 2, "MODEL is empty");
    one(inspect(folder.resolve("nothing")), 1, "nothing");
    one(inspect(Files.createDirectories(folder.resolve("empty"))), 1, "empty");
    Path model = stories();
    one(inspect(model, "--map", folder.resolve("no.json")), 1, "no.json");
    one(inspect(model, "--map", ""), 2, "--map is empty");
    Files.delete(model.resolve("config.json"));
    one(inspect(model), 1, "config.json: no such file");
    Files.writeString(model.resolve("config.json"), "{\"model_type\": \"rwkv\"}");
    assertThat(inspect(model).err())
        .contains("has model_type 'rwkv', whose norms are not known")
        .hasLineCount(1);
    one(inspect(model.resolve("config.json")), 1, "has model_type 'rwkv', whose norms are not");
    Files.writeString(model.resolve("config.json"), "[]");
    one(inspect(model), 1, "is no JSON object");
  }

  @Test
  void anArrayIsNoModel() throws IOException {
    Path x = TestTensor.write(folder.resolve("x.npy"), TestTensor.random("", Dtype.F32, 0, 1, 8));
    one(inspect(x), 1, x + ": is a .npy file, which holds an array and no model; rmsnorm show");
  }

  /** The map that is printed finds the norms. */
  @Test
  void showsWhatIsKnownOfAnotherFamily() throws IOException {
    Path model = stories();
    Path config = model.resolve("config.json");
    Files.writeString(config, Files.readString(config).replace("\"llama\"", "\"new\""));
    CommandResult result = inspect(model);
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.err()).contains("has model_type 'new'").hasLineCount(1);
    String map = "{\"family\":\"new\",\"like\":\"Llama\"}";
    assertThat(result.out().lines())
        .contains(
            "      5     0.4903      1.202      2.793           g  model.layers.N.input_layernorm.weight",
            map);
    CommandResult json = inspect(model, "--json", "-");
    assertThat(json.status()).isEqualTo(1);
    assertThat(json.err()).isEqualTo(result.err());
    JsonNode read = new ObjectMapper().readTree(json.out());
    assertThat(read.get("error").asText()).isEqualTo(result.err().strip().split(": ", 2)[1]);
    JsonNode norm = read.get("likelyNorms").get(0);
    assertThat(norm.get("name").asText()).isEqualTo("model.layers.N.input_layernorm.weight");
    assertThat(norm.get("tensors").asInt()).isEqualTo(5);
    assertThat(norm.get("greatest").asDouble()).isCloseTo(2.793, within(0.001));
    assertThat(norm.get("looksLike").asDouble()).isZero();
    assertThat(read.get("likelyNorms")).hasSize(3);
    assertThat(read.get("map")).hasToString(map);
    Path file = Files.writeString(folder.resolve("map.json"), map);
    assertThat(inspect(model, "--map", file).out()).startsWith("new: 11 norms; the head is tied");
  }

  /** A program that reads the JSON gets the error where there is nothing else, too. */
  @Test
  void theJsonHasTheError() throws IOException {
    Path model = stories();
    Path config = model.resolve("config.json");
    Path data = folder.resolve("norms.json");
    String known = Files.readString(config);
    String unknown = known.replace("\"llama\"", "\"new\"");
    for (String text : List.of(unknown, known.replace("1.0E-5", "-1"), "[]")) {
      Files.writeString(config, text);
      for (Path path : List.of(model, config)) {
        CommandResult result = inspect(path, "--json", "-");
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.err()).hasLineCount(1);
        JsonNode read = new ObjectMapper().readTree(result.out());
        assertThat(result.err()).endsWith(": " + read.get("error").asText() + "\n");
        boolean likely = path.equals(model) && text.equals(unknown);
        assertThat(read.get("likelyNorms").isEmpty()).isNotEqualTo(likely);
        assertThat(read.get("map").isNull()).isNotEqualTo(likely);
        assertThat(inspect(path, "--json", data).status()).isEqualTo(1);
        assertThat(data).doesNotExist();
      }
    }
  }

  /** All lines of a warning, and the first line of the text. */
  @Test
  void warningsHaveAColor() throws IOException {
    List<String> plain = inspect(oddModel()).out().lines().toList();
    List<String> colored = colored(oddModel());
    assertThat(colored.stream().map(line -> line.substring(1))).isEqualTo(plain);
    List<Integer> warnings = new ArrayList<>();
    for (int i = 1; i < plain.size(); i++) {
      boolean continued = plain.get(i).startsWith("    ") && warnings.contains(i - 1);
      if (plain.get(i).startsWith("  warning: ") || continued) {
        warnings.add(i);
      }
      assertThat(colored.get(i).charAt(0)).isEqualTo(warnings.contains(i) ? '!' : ' ');
    }
    assertThat(warnings).hasSizeGreaterThan(4);
    assertThat(colored.getFirst()).startsWith("!Llama");
    assertThat(colored(stories()).getFirst()).startsWith("+Llama");
    assertThat(colored(stories())).filteredOn(line -> line.startsWith("!")).isEmpty();
  }

  /** Marks instead of colors: a plus for good, an exclamation mark for a warning. */
  private static List<String> colored(Path path) throws IOException {
    try (StoredModel model = StoredModel.open(path)) {
      List<String> lines =
          InspectionText.lines(
              Inspection.of(model, Optional.empty()), Prospects.of(path, Optional.empty()));
      Inspect.color(lines, line -> "+" + line, line -> "!" + line);
      return lines.stream().map(line -> line.matches("(?s)[+!].*") ? line : " " + line).toList();
    }
  }

  /** All but the gains; the figures too. */
  @Test
  void readsAConfigAlone() throws IOException {
    Path config = mamba().resolve("config.json");
    Path data = folder.resolve("norms.json");
    CommandResult result = inspect(config, "--json", data);
    assertThat(result.status()).as(result.err()).isZero();
    assertThat(result.out().replaceAll("\\s+", " "))
        .startsWith("Mamba-2: 3 norms; the head is stored")
        .contains("N stands for a layer number")
        .contains(
            "backbone.layers.N.mixer.norm RMSNorm in 2 groups, gate silu before, epsilon 1e-5"
                + " (layer_norm_epsilon), cast order float32; the architecture stores the gain as g")
        .contains("NormSpec.parse(\"llama(eps=1e-5)\") .builder(gain.length).gain(gain).build()")
        .contains("as --like takes it: llama(eps=1e-5)");
    assertThat(data)
        .content()
        .contains("\"epsilonFrom\" : \"layer_norm_epsilon\"")
        .contains("\"spec\" : \"rmsnorm(eps=1e-5, gate=silu before, groupcount=2)\"")
        .contains("\"like\" : \"rmsnorm(eps=1e-5, gate=silu before, groupcount=2)\"")
        .contains("\"per\" : \"group\"", "\"epsilon\" : 1.0E-5")
        .contains("NormSpec.parse(\\\"llama(eps=1e-5)\\\").builder(gain.length)");
    CommandResult over = inspect(config, "--json", config, "--force");
    assertThat(over.err()).contains("which is read: name another file").hasLineCount(1);
  }

  private static void one(CommandResult result, int status, String problem) {
    assertThat(result.status()).as(result.err()).isEqualTo(status);
    assertThat(result.err()).contains(problem).hasLineCount(1);
    assertThat(result.out()).isEmpty();
  }
}
