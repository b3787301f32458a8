package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

  static Stream<String> layouts() {
    return ALL.keySet().stream();
  }

  /** All gains are found, all tensors known, and what may be folded is; tensors of experts stay. */
  @ParameterizedTest
  @MethodSource("layouts")
  void everyTensorHasItsRule(String name) throws IOException {
    TinyModel model = ALL.get(name).model(StoredType.F64, 3);
    Path stored = HuggingFaceFolder.write(model, folder.resolve("in"), 1);
    Inspection found;
    try (StoredModel opened = StoredModel.open(stored)) {
      found = Inspection.of(opened, Optional.empty());
    }
    assertThat(found.remarks()).isEmpty();
    assertThat(found.model().unknown()).isEmpty();
    assertThat(found.norms().stream().map(norm -> norm.site().gain().orElseThrow()))
        .containsExactlyInAnyOrderElementsOf(
            model.tensors().keySet().stream()
                .filter(tensor -> tensor.endsWith(".weight"))
                .filter(tensor -> model.get(tensor).shape().size() == 1)
                .toList());
    TinyModel folded = rewriter.fold(model);
    Set<String> kept = new LinkedHashSet<>();
    for (InspectedNorm norm : found.norms()) {
      String gain = norm.site().gain().orElseThrow();
      if (Arrays.equals(folded.get(gain).elements(), model.get(gain).elements())) {
        kept.add(norm.site().name().replaceFirst(".*layers\\.\\d+\\.|.*\\.", ""));
      }
    }
    assertThat(String.join(" ", kept)).isEqualTo(KEPT.get(name));
  }

  private static final Map<String, String> KEPT = new LinkedHashMap<>();
  private static final Map<String, Layout> ALL = new LinkedHashMap<>();

  private static final String NORMS =
      "input_layernorm.weight gain D\npost_attention_layernorm.weight gain D\n";
  private static final String ENDS =
      """
      model.embed_tokens.weight embedding V D
      model.norm.weight gain D
      lm_head.weight matrix V D
      """;
  private static final String ATTENTION =
      """
      self_attn.q_proj.weight matrix Q D
      self_attn.k_proj.weight matrix K D
      self_attn.v_proj.weight matrix K D
      self_attn.o_proj.weight matrix D Q
      """;
  private static final String HEADS =
      "self_attn.q_norm.weight gain H\nself_attn.k_norm.weight gain H\n";
  private static final String LATENT =
      """
      self_attn.q_a_proj.weight matrix S D
      self_attn.q_a_layernorm.weight gain S
      self_attn.q_b_proj.weight matrix Q S
      self_attn.kv_a_proj_with_mqa.weight matrix S+2 D
      self_attn.kv_a_layernorm.weight gain S
      self_attn.kv_b_proj.weight matrix 2Q S
      self_attn.o_proj.weight matrix D Q
      """;
  private static final String MLP = mlp("mlp.");
  private static final String ROUTER =
      "mlp.gate.weight matrix 2 D\nmlp.gate.e_score_correction_bias bias 2\n";
  private static final String EXPERTS = mlp("mlp.experts.0.") + mlp("mlp.experts.1.");
  private static final String SHARED = mlp("mlp.shared_experts.");
  private static final String FURTHER =
      """
      enorm.weight gain D
      hnorm.weight gain D
      eh_proj.weight matrix D 2D
      embed_tokens.weight embedding V D
      shared_head.norm.weight gain D
      shared_head.head.weight matrix V D
      """;

  private static String mlp(String at) {
    return "%sgate_proj.weight matrix F D\n%sup_proj.weight matrix F D\n%sdown_proj.weight matrix D F\n"
        .formatted(at, at, at);
  }

  private static String layer(int number, String... parts) {
    return String.join("", parts).replaceAll("(?m)^(?=.)", "model.layers." + number + ".");
  }

  private static Layout layout(String type, String... layers) {
    Map<String, Integer> sizes =
        Map.of("V", 37, "D", 24, "H", 6, "Q", 24, "K", 12, "F", 10, "S", 8, "L", 2);
    return Layout.of(type, "ForCausalLM", sizes, ENDS + String.join("", layers))
        .with("num_hidden_layers", 2, "hidden_size", 24, "vocab_size", 37)
        .with("rms_norm_eps", 1e-3, "norm_eps", 1e-3, "tie_word_embeddings", false);
  }

  private static void add(String name, String kept, Layout layout) {
    ALL.put(name, layout);
    KEPT.put(name, kept);
  }

  static {
    String moe = NORMS + ATTENTION + ROUTER.lines().findFirst().orElseThrow() + "\n" + EXPERTS;
    String mixtral =
        moe.replace("mlp.gate.", "block_sparse_moe.gate.")
            .replace("mlp.experts", "block_sparse_moe.experts")
            .replaceAll("(experts.\\d.)gate_proj", "$1w1")
            .replaceAll("(experts.\\d.)up_proj", "$1w3")
            .replaceAll("(experts.\\d.)down_proj", "$1w2");
    add(
        "mixtral",
        "",
        layout("mixtral", layer(0, mixtral), layer(1, mixtral)).with("num_local_experts", 2));
    String minimax =
        mixtral
            + HEADS
                .replace("q_norm.weight gain H", "q_norm.weight gain Q")
                .replace("k_norm.weight gain H", "k_norm.weight gain K")
            + "block_sparse_moe.e_score_correction_bias bias 2\n";
    add(
        "minimax_m2",
        "self_attn.q_norm self_attn.k_norm",
        layout("minimax_m2", layer(0, minimax), layer(1, minimax)).with("num_local_experts", 2));
    String dense = NORMS + ATTENTION + MLP;
    add(
        "qwen3_moe",
        "self_attn.q_norm self_attn.k_norm",
        layout("qwen3_moe", layer(0, dense, HEADS), layer(1, moe, HEADS)).with("num_experts", 2));
    String oss =
        NORMS
            + ATTENTION
            + """
        self_attn.sinks bias 4
        mlp.router.weight matrix 2 D
        mlp.router.bias bias 2
        mlp.experts.gate_up_proj matrix 2 D 2F
        mlp.experts.gate_up_proj_bias matrix 2 2F
        mlp.experts.down_proj matrix 2 F D
        mlp.experts.down_proj_bias matrix 2 D
        """;
    add("gpt_oss", "post_attention_layernorm", layout("gpt_oss", layer(0, oss), layer(1, oss)));
    String deepseek = NORMS + LATENT;
    Layout v3 =
        layout(
                "deepseek_v3",
                layer(0, deepseek, MLP),
                layer(1, deepseek, ROUTER, SHARED, EXPERTS),
                layer(2, deepseek, ROUTER, SHARED, EXPERTS, FURTHER))
            .with("n_routed_experts", 2, "num_nextn_predict_layers", 1, "q_lora_rank", 8);
    add("deepseek_v3", "enorm hnorm shared_head.norm norm", v3);
    add("deepseek_v3 without layers for further tokens", "norm", v3.without("model.layers.2."));
    Layout k2 =
        layout("kimi_k25", layer(0, deepseek, MLP), layer(1, deepseek, ROUTER, SHARED, EXPERTS))
            .replace("model.", "language_model.model.")
            .replace("lm_head", "language_model.lm_head")
            .plus("vision_tower.norm.bias bias 4\n")
            .with("n_routed_experts", 2, "q_lora_rank", 8, "num_nextn_predict_layers", 0);
    add("kimi_k25", "norm", k2);
    String indexer =
        """
        self_attn.indexer.wk.weight matrix H D
        self_attn.indexer.wq_b.weight matrix Q S
        self_attn.indexer.weights_proj.weight matrix 2 D
        self_attn.indexer.k_norm.weight gain H
        self_attn.indexer.k_norm.bias bias H
        """;
    add(
        "glm_moe_dsa",
        "input_layernorm self_attn.q_a_layernorm self_attn.indexer.k_norm norm",
        layout(
                "glm_moe_dsa",
                layer(0, deepseek, indexer, MLP),
                layer(1, deepseek, ROUTER, SHARED, EXPERTS))
            .with("n_routed_experts", 2, "q_lora_rank", 8));
    add(
        "glm4_moe",
        "self_attn.q_norm self_attn.k_norm enorm hnorm shared_head.norm norm",
        layout(
                "glm4_moe",
                layer(0, dense, HEADS),
                layer(1, NORMS, ATTENTION, HEADS, ROUTER, SHARED, EXPERTS),
                layer(2, NORMS, ATTENTION, HEADS, ROUTER, SHARED, EXPERTS, FURTHER))
            .with("n_routed_experts", 2, "num_nextn_predict_layers", 1));
    String step =
        NORMS
            + ATTENTION
            + HEADS
            + """
        self_attn.g_proj.weight matrix 4 D
        moe.gate.weight matrix 2 D
        moe.router_bias bias 2
        moe.gate_proj.weight matrix 2 F D
        moe.up_proj.weight matrix 2 F D
        moe.down_proj.weight matrix 2 D F
        """
            + mlp("share_expert.");
    add(
        "step3p5",
        "self_attn.q_norm self_attn.k_norm post_attention_layernorm norm",
        layout(
                "step3p5",
                layer(0, dense, HEADS, "self_attn.g_proj.weight matrix 4 D\n"),
                layer(1, step))
            .replace(" gain ", " gain-1 "));
    Layout mistral =
        layout("mistral3", layer(0, dense), layer(1, dense))
            .replace("model.", "language_model.model.")
            .replace("lm_head", "language_model.lm_head")
            .plus("multi_modal_projector.linear_1.bias bias 4\n");
    add(
        "mistral3",
        "",
        mistral.with("text_config", Map.of("model_type", "ministral3", "num_hidden_layers", 2)));
    String shared =
        "shared_mlp.input_linear.weight matrix 2F D\nshared_mlp.output_linear.weight matrix D F\n";
    String granite =
        """
        block_sparse_moe.router.layer.weight matrix 2 D
        block_sparse_moe.input_linear.weight matrix 2 2F D
        block_sparse_moe.output_linear.weight matrix 2 D F
        """;
    String mamba =
        """
        mamba.in_proj.weight matrix 2Q D
        mamba.conv1d.weight matrix Q 1 4
        mamba.conv1d.bias bias Q
        mamba.A_log bias 3
        mamba.D bias 3
        mamba.dt_bias bias 3
        mamba.norm.weight gain Q
        mamba.out_proj.weight matrix D Q
        """;
    add(
        "granitemoehybrid",
        "",
        layout(
                "granitemoehybrid",
                layer(0, NORMS, mamba, shared),
                layer(1, NORMS, ATTENTION, shared))
            .with("mamba_n_groups", 1, "num_local_experts", 0));
    add(
        "granitemoehybrid with experts",
        "post_attention_layernorm",
        layout(
                "granitemoehybrid",
                layer(0, NORMS, mamba, shared, granite),
                layer(1, NORMS, ATTENTION, shared, granite))
            .with("mamba_n_groups", 2, "num_local_experts", 2));
    String lfm =
        "operator_norm.weight gain D\nffn_norm.weight gain D\nfeed_forward.w1.weight matrix F D\nfeed_forward.w3.weight matrix F D\nfeed_forward.w2.weight matrix D F\n";
    add(
        "lfm2",
        "self_attn.q_layernorm self_attn.k_layernorm",
        layout(
                "lfm2",
                layer(
                    0,
                    lfm,
                    "conv.conv.weight matrix D 1 3\nconv.in_proj.weight matrix 3D D\nconv.out_proj.weight matrix D D\n"),
                layer(
                    1,
                    lfm,
                    ATTENTION.replace("o_proj", "out_proj"),
                    HEADS.replace("_norm", "_layernorm")))
            .replace("model.norm", "model.embedding_norm"));
    String gemma =
        dense
            + HEADS
            + "pre_feedforward_layernorm.weight gain D\npost_feedforward_layernorm.weight gain D\nlayer_scalar bias 1\n";
    add(
        "gemma4",
        "self_attn.q_norm self_attn.k_norm post_attention_layernorm post_feedforward_layernorm norm",
        layout("gemma4", layer(0, gemma), layer(1, gemma).replaceAll(".*v_proj.*\n", ""))
            .replace("model.", "model.language_model.")
            .without("lm_head")
            .plus("model.vision_tower.norm.bias bias 4\n")
            .with("tie_word_embeddings", true));
  }
}
