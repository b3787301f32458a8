package io.github.rmsnorm4j.models.families;

import java.util.List;
import java.util.Map;

/**
 * The layouts of families with gated norms. Letters of axes as in {@link Layouts}; {@code G} is the
 * width of a head of values, of which there are three, {@code I} the inner width of a Mamba-2
 * mixer, and {@code S} the latent width of keys and values.
 */
final class GatedLayouts {
  private GatedLayouts() {}

  private static final Map<String, Integer> SIZES =
      Map.of("V", 37, "D", 24, "H", 6, "Q", 12, "K", 6, "F", 10, "G", 4, "I", 12, "S", 8, "L", 3);

  private static final String FULL =
      """
      self_attn.q_proj.weight matrix 2Q D
      self_attn.k_proj.weight matrix K D
      self_attn.v_proj.weight matrix K D
      self_attn.o_proj.weight matrix D Q
      self_attn.q_norm.weight gain-1 H
      self_attn.k_norm.weight gain-1 H
      """;

  private static final String DELTA =
      """
      linear_attn.conv1d.weight matrix 3Q 1 4
      linear_attn.A_log bias 3
      linear_attn.dt_bias bias 3
      linear_attn.norm.weight gain G
      linear_attn.out_proj.weight matrix D 3G
      """;

  private static final String MLP =
      """
      mlp.gate_proj.weight matrix F D
      mlp.up_proj.weight matrix F D
      mlp.down_proj.weight matrix D F
      """;

  private static final String SHARED =
      """
      mlp.gate.weight matrix 2 D
      mlp.shared_expert_gate.weight matrix 1 D
      """
          + MLP.replace("mlp.", "mlp.shared_expert.");

  private static String expert(int number) {
    return MLP.replace("mlp.", "mlp.experts." + number + ".");
  }

  /** The lines of a layer, under the name that they begin with. */
  private static String layer(String name, String... lines) {
    return String.join("", lines).replaceAll("(?m)^", name).replaceAll(name + "$", "");
  }

  private static Layout layout(String type, String architecture, String tensors) {
    return Layout.of(type, architecture, SIZES, tensors)
        .with("num_hidden_layers", 3, "hidden_size", 24, "vocab_size", 37)
        .with("rms_norm_eps", 1e-3, "tie_word_embeddings", false);
  }

  /** Experts in layers 0 and 1, full attention in layer 1, and layers for further tokens. */
  static Layout qwen3Next() {
    String delta =
        """
        linear_attn.in_proj_qkvz.weight matrix 4Q D
        linear_attn.in_proj_ba.weight matrix 6 D
        """
            + DELTA;
    String experts = SHARED + expert(0) + expert(1);
    return layout("qwen3_next", "Qwen3NextForCausalLM", qwen(delta, experts, MLP))
        .with("num_experts", 2)
        .plus("mtp.norm.weight gain-1 D\n");
  }

  /** A text model within one of images, whose matrices are all dense. */
  static Layout qwen35() {
    return layout("qwen3_5", "Qwen3_5ForConditionalGeneration", qwen(splitDelta(), MLP, MLP))
        .replace("model.", "model.language_model.")
        .plus("model.visual.blocks.0.norm1.weight gain D\n");
  }

  /** The same with experts, the matrices of which are stored as one tensor. */
  static Layout qwen35Experts() {
    String experts =
        SHARED + "mlp.experts.gate_up_proj matrix 2 2F D\nmlp.experts.down_proj matrix 2 D F\n";
    return layout(
        "qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", qwen(splitDelta(), experts, experts));
  }

  private static String splitDelta() {
    return """
        linear_attn.in_proj_qkv.weight matrix 3Q D
        linear_attn.in_proj_z.weight matrix Q D
        linear_attn.in_proj_b.weight matrix 3 D
        linear_attn.in_proj_a.weight matrix 3 D
        """
        + DELTA;
  }

  private static String qwen(String delta, String first, String last) {
    String norms = "input_layernorm.weight gain-1 D\npost_attention_layernorm.weight gain-1 D\n";
    return "model.embed_tokens.weight embedding V D\nlm_head.weight matrix V D\n"
        + layer("model.layers.0.", norms, delta, first)
        + layer("model.layers.1.", norms, FULL, first)
        + layer("model.layers.2.", norms, delta, last)
        + "model.norm.weight gain-1 D\n";
  }

  /** A dense layer, one with experts, and one with latent attention. */
  static Layout kimiLinear() {
    String norms = "input_layernorm.weight gain D\npost_attention_layernorm.weight gain D\n";
    String delta =
        """
        self_attn.q_proj.weight matrix Q D
        self_attn.k_proj.weight matrix Q D
        self_attn.v_proj.weight matrix Q D
        self_attn.q_conv1d.weight matrix Q 1 4
        self_attn.k_conv1d.weight matrix Q 1 4
        self_attn.v_conv1d.weight matrix Q 1 4
        self_attn.f_a_proj.weight matrix G D
        self_attn.f_b_proj.weight matrix Q G
        self_attn.g_a_proj.weight matrix G D
        self_attn.g_b_proj.weight matrix Q G
        self_attn.b_proj.weight matrix 3 D
        self_attn.A_log bias 3
        self_attn.dt_bias bias Q
        self_attn.o_norm.weight gain G
        self_attn.o_proj.weight matrix D 3G
        """;
    String latent =
        """
        self_attn.q_proj.weight matrix Q D
        self_attn.kv_a_proj_with_mqa.weight matrix S+2 D
        self_attn.kv_a_layernorm.weight gain S
        self_attn.kv_b_proj.weight matrix 2Q S
        self_attn.o_proj.weight matrix D Q
        """;
    String experts =
        """
        block_sparse_moe.gate.weight matrix 2 D
        block_sparse_moe.gate.e_score_correction_bias bias 2
        """
            + MLP.replace("mlp.", "block_sparse_moe.shared_experts.")
            + kimiExpert(0)
            + kimiExpert(1);
    return layout(
            "kimi_linear",
            "KimiLinearForCausalLM",
            "model.embed_tokens.weight embedding V D\nlm_head.weight matrix V D\n"
                + layer("model.layers.0.", norms, delta, MLP)
                + layer("model.layers.1.", norms, delta, experts)
                + layer("model.layers.2.", norms, latent, experts)
                + "model.norm.weight gain D\n")
        .with("num_experts", 2);
  }

  private static String kimiExpert(int number) {
    return MLP.replace("mlp.", "block_sparse_moe.experts." + number + ".")
        .replace("gate_proj", "w1")
        .replace("up_proj", "w3")
        .replace("down_proj", "w2");
  }

  private static final String MAMBA =
      """
      mixer.in_proj.weight matrix 2I+5 D
      mixer.conv1d.weight matrix I 1 4
      mixer.conv1d.bias bias I
      mixer.A_log bias 3
      mixer.D bias 3
      mixer.dt_bias bias 3
      mixer.norm.weight gain I
      mixer.out_proj.weight matrix D I
      """;

  /** Three layers that are alike, with two groups. */
  static Layout mamba2() {
    return layout("mamba2", "Mamba2ForCausalLM", mixers("backbone.", List.of(MAMBA, MAMBA, MAMBA)))
        .with("layer_norm_epsilon", 1e-3, "n_groups", 2);
  }

  /** A mixer of each kind, with three groups. */
  static Layout nemotronH() {
    String attention =
        FULL.replaceAll("(?m)^self_attn\\.._norm.*\n", "").replace("self_attn", "mixer");
    String mlp = "mixer.up_proj.weight matrix F D\nmixer.down_proj.weight matrix D F\n";
    return layout(
            "nemotron_h",
            "NemotronHForCausalLM",
            mixers("backbone.", List.of(MAMBA, attention, mlp)))
        .with("layer_norm_epsilon", 1e-3, "n_groups", 3);
  }

  private static String mixers(String prefix, List<String> mixers) {
    StringBuilder lines = new StringBuilder("lm_head.weight matrix V D\n");
    lines.append(prefix).append("embeddings.weight embedding V D\n");
    for (int i = 0; i < mixers.size(); i++) {
      lines.append(layer(prefix + "layers." + i + ".", "norm.weight gain D\n", mixers.get(i)));
    }
    return lines.append(prefix).append("norm_f.weight gain D\n").toString();
  }
}
