package io.github.rmsnorm4j.models.families;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The layouts of families by the names of published files, in two layers. Letters of axes as in
 * {@link Layouts}; {@code S} is the width of latent rows.
 */
final class PublishedLayouts {
  private PublishedLayouts() {}

  /** The gains that no fold moves, of each layout. */
  static final Map<String, String> KEPT = new LinkedHashMap<>();

  /** Each layout by its {@code model_type} and what is special. */
  static final Map<String, Layout> ALL = new LinkedHashMap<>();

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
    String packed =
        EXPERTS.replaceAll(
            "(?m)^(.*)\\.weight matrix (.*)$",
            "$1.weight_packed mask $2\n$1.weight_scale matrix $2");
    Layout k2 =
        layout("kimi_k25", layer(0, deepseek, MLP), layer(1, deepseek, ROUTER, SHARED, packed))
            .replace("model.", "language_model.model.")
            .replace("lm_head", "language_model.lm_head")
            .replace(
                "layers.1.self_attn.q_b_proj.weight matrix Q S",
                "layers.1.self_attn.q_b_proj.weight mask Q S\n"
                    + "language_model.model.layers.1.self_attn.q_b_proj.weight_scale_inv matrix 1 1")
            .plus("vision_tower.norm.bias bias 4\n")
            .with("n_routed_experts", 2, "q_lora_rank", 8, "num_nextn_predict_layers", 0);
    add("kimi_k25", "self_attn.q_a_layernorm? post_attention_layernorm? norm", k2);
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
    layerNorms();
    kimiK3();
    deepseekV4();
  }

  private static String dense(String at, String... names) {
    StringBuilder lines = new StringBuilder();
    for (String name : names) {
      String matrix = "%s%s.weight %s D D\n%s%s.bias bias D\n";
      boolean norm = name.toLowerCase(Locale.ROOT).contains("norm");
      lines.append(matrix.formatted(at, name, norm ? "gain" : "matrix", at, name));
    }
    return lines.toString().replace("gain D D", "gain D");
  }

  /** Norms behind the addition, before it, and of an encoder whose keys have no bias. */
  private static void layerNorms() {
    Map<String, Integer> sizes = Map.of("V", 37, "D", 24, "L", 2);
    String bert =
        "bert.embeddings.word_embeddings.weight embedding V D\n"
            + "bert.embeddings.position_embeddings.weight embedding 5 D\n"
            + dense("bert.embeddings.", "LayerNorm")
            + dense("bert.encoder.layer.*.attention.", "self.query", "self.key", "self.value")
            + dense("bert.encoder.layer.*.attention.output.", "dense", "LayerNorm")
            + dense(
                "bert.encoder.layer.*.", "intermediate.dense", "output.dense", "output.LayerNorm")
            + dense("cls.predictions.transform.", "dense", "LayerNorm")
            + "cls.predictions.bias bias V\n";
    add(
        "bert",
        "LayerNorm attention.output.LayerNorm output.LayerNorm",
        Layout.of("bert", "BertForMaskedLM", sizes, bert)
            .with("num_hidden_layers", 2, "hidden_size", 24, "layer_norm_eps", 1e-12));
    String vit =
        "vit.embeddings.cls_token matrix 1 1 D\n"
            + "vit.embeddings.patch_embeddings.projection.weight matrix D 3 2 2\n"
            + "vit.embeddings.patch_embeddings.projection.bias bias D\n"
            + dense("vit.encoder.layer.*.", "layernorm_before", "layernorm_after")
            + dense("vit.encoder.layer.*.attention.attention.", "query", "key", "value")
            + dense("vit.encoder.layer.*.", "attention.output.dense", "intermediate.dense")
            + dense("vit.encoder.layer.*.", "output.dense")
            + dense("vit.", "layernorm")
            + dense("", "classifier");
    add(
        "vit",
        "layernorm",
        Layout.of("vit", "ViTForImageClassification", sizes, vit)
            .with("num_hidden_layers", 2, "hidden_size", 24, "layer_norm_eps", 1e-12));
    String[] attention = {"k_proj", "v_proj", "q_proj", "out_proj"};
    String whisper =
        "model.decoder.embed_tokens.weight embedding V D\n"
            + "model.decoder.embed_positions.weight embedding 5 D\n"
            + "model.encoder.embed_positions.weight embedding 5 D\n"
            + "model.encoder.conv1.weight matrix D 4 3\n"
            + dense("model.encoder.layers.*.self_attn.", attention)
            + dense(
                "model.encoder.layers.*.", "self_attn_layer_norm", "final_layer_norm", "fc1", "fc2")
            + dense("model.encoder.", "layer_norm")
            + dense("model.decoder.layers.*.self_attn.", attention)
            + dense("model.decoder.layers.*.encoder_attn.", attention)
            + dense("model.decoder.layers.*.", "self_attn_layer_norm", "encoder_attn_layer_norm")
            + dense("model.decoder.layers.*.", "final_layer_norm", "fc1", "fc2")
            + dense("model.decoder.", "layer_norm");
    add(
        "whisper",
        "self_attn_layer_norm layer_norm",
        Layout.of("whisper", "WhisperForConditionalGeneration", sizes, whisper)
            .without("k_proj.bias")
            .with("encoder_layers", 2, "decoder_layers", 2, "d_model", 24));
  }

  private static void kimiK3() {
    String residual =
        """
        self_attention_res_norm.weight gain D
        self_attention_res_proj.weight matrix 1 D
        mlp_res_norm.weight gain D
        mlp_res_proj.weight matrix 1 D
        self_attn.g_proj.weight matrix Q D
        """;
    String delta =
        """
        self_attn.q_proj.weight matrix Q D
        self_attn.k_proj.weight matrix Q D
        self_attn.v_proj.weight matrix Q D
        self_attn.q_conv1d.weight matrix Q 1 4
        self_attn.f_a_proj.weight matrix H D
        self_attn.f_b_proj.weight matrix Q H
        self_attn.b_proj.weight matrix 4 D
        self_attn.A_log bias 4
        self_attn.dt_bias bias Q
        self_attn.o_norm.weight gain H
        self_attn.o_proj.weight matrix D Q
        """;
    String moe =
        """
        block_sparse_moe.gate.weight matrix 2 D
        block_sparse_moe.gate.e_score_correction_bias bias 2
        block_sparse_moe.routed_expert_down_proj.weight matrix S D
        block_sparse_moe.routed_expert_norm.weight gain S
        block_sparse_moe.routed_expert_up_proj.weight matrix D S
        block_sparse_moe.experts.0.w1.weight_packed mask F S
        block_sparse_moe.experts.0.w1.weight_scale mask F 1
        """
            + mlp("block_sparse_moe.shared_experts.");
    add(
        "kimi_k3",
        "",
        layout(
                "kimi_k3",
                layer(0, NORMS, residual, delta, MLP),
                layer(1, NORMS, residual, LATENT, moe))
            .plus("model.output_attn_res_norm.weight gain D\n")
            .plus("model.output_attn_res_proj.weight matrix 1 D\n")
            .replace("model.", "language_model.model.")
            .replace("lm_head", "language_model.lm_head")
            .with("text_config", Map.of("model_type", "kimi_linear", "num_hidden_layers", 2)));
  }

  private static void deepseekV4() {
    String layer =
        """
        attn_norm.weight gain D
        ffn_norm.weight gain D
        attn.attn_sink bias 4
        attn.wq_a.weight matrix S D
        attn.q_norm.weight gain S
        attn.wq_b.weight matrix Q S
        attn.wkv.weight matrix H D
        attn.kv_norm.weight gain H
        attn.wo_a.weight matrix S Q
        attn.wo_b.weight matrix D S
        hc_attn_fn matrix 4 4D
        hc_ffn_scale bias 3
        ffn.gate.weight matrix 1 D
        ffn.gate.bias bias 1
        ffn.experts.0.w1.weight mask F D
        ffn.experts.0.w1.scale matrix F 1
        ffn.experts.0.w3.weight mask F D
        ffn.experts.0.w2.weight mask D F
        ffn.shared_experts.w1.weight matrix F D
        ffn.shared_experts.w3.weight matrix F D
        ffn.shared_experts.w2.weight matrix D F
        """;
    String compressor =
        """
        attn.compressor.norm.weight gain H
        attn.compressor.wkv.weight matrix H D
        attn.compressor.ape matrix 4 H
        attn.indexer.compressor.norm.weight gain H
        attn.indexer.wq_b.weight matrix Q S
        """;
    add(
        "deepseek_v4",
        "attn_norm attn.q_norm attn.kv_norm ffn_norm attn.compressor.norm"
            + " attn.indexer.compressor.norm norm",
        layout("deepseek_v4", layer(0, layer), layer(1, layer, compressor))
            .replace("model.embed_tokens", "embed")
            .replace("model.", "")
            .replace("lm_head", "head")
            .plus("hc_head_fn matrix 4 4D\nmtp.0.e_proj.bias bias 4\n")
            .with("n_routed_experts", 1));
  }
}
