package io.github.rmsnorm4j.models.families;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The layouts of all families. Letters of axes: {@code V} tokens, {@code D} width, {@code Q} and
 * {@code K} all query and all key heads, {@code H} one head, {@code F} the inner width of the MLP,
 * {@code P} positions.
 */
final class Layouts {
  private Layouts() {}

  static final int VOCABULARY = 37;
  static final int POSITIONS = 24;

  private static final String EMBEDDING = "model.embed_tokens.weight embedding V D\n";
  static final String HEAD = "lm_head.weight matrix V D\n";
  private static final String BEFORE =
      """
      model.layers.*.input_layernorm.weight gain D
      model.layers.*.post_attention_layernorm.weight gain D
      """;
  private static final String ATTENTION =
      """
      model.layers.*.self_attn.q_proj.weight matrix Q D
      model.layers.*.self_attn.k_proj.weight matrix K D
      model.layers.*.self_attn.v_proj.weight matrix K D
      model.layers.*.self_attn.o_proj.weight matrix D Q
      """;
  private static final String MLP =
      """
      model.layers.*.mlp.gate_proj.weight matrix F D
      model.layers.*.mlp.up_proj.weight matrix F D
      model.layers.*.mlp.down_proj.weight matrix D F
      """;
  private static final String NORM = "model.norm.weight gain D\n";
  private static final String LLAMA = EMBEDDING + BEFORE + ATTENTION + MLP + NORM;

  /** Each layout by a name that tells the family and what is special. */
  static final Map<String, Layout> ALL = all();

  private static Map<String, Layout> all() {
    Map<String, Layout> all = new LinkedHashMap<>();
    Layout llama = rotary("llama", "LlamaForCausalLM", 6, LLAMA + HEAD);
    all.put("llama", llama);
    all.put("llama-tied", tied(llama));
    String biases =
        """
        model.layers.*.self_attn.q_proj.bias bias Q
        model.layers.*.self_attn.k_proj.bias bias K
        model.layers.*.self_attn.v_proj.bias bias K
        """;
    String otherBiases =
        """
        model.layers.*.self_attn.o_proj.bias bias D
        model.layers.*.mlp.gate_proj.bias bias F
        model.layers.*.mlp.up_proj.bias bias F
        model.layers.*.mlp.down_proj.bias bias D
        """;
    all.put(
        "llama-biases",
        llama.plus(biases + otherBiases).with("attention_bias", true, "mlp_bias", true));
    all.put("mistral", rotary("mistral", "MistralForCausalLM", 10, LLAMA + HEAD));
    Layout qwen2 = rotary("qwen2", "Qwen2ForCausalLM", 6, LLAMA + biases);
    all.put("qwen2", qwen2.plus(HEAD));
    all.put("qwen2-tied", tied(qwen2));
    String headNorms =
        """
        model.layers.*.self_attn.q_norm.weight gain H
        model.layers.*.self_attn.k_norm.weight gain H
        """;
    all.put("qwen3", rotary("qwen3", "Qwen3ForCausalLM", 8, LLAMA + headNorms + HEAD));
    gemmas(all, headNorms);
    String after =
        """
        model.layers.*.post_attention_layernorm.weight gain D
        model.layers.*.post_feedforward_layernorm.weight gain D
        model.layers.*.self_attn.q_norm.weight gain Q
        model.layers.*.self_attn.k_norm.weight gain K
        """;
    all.put(
        "olmo2",
        rotary("olmo2", "Olmo2ForCausalLM", 6, EMBEDDING + ATTENTION + MLP + after + NORM + HEAD));
    String fused =
        """
        model.layers.*.self_attn.qkv_proj.weight matrix Q+2K D
        model.layers.*.self_attn.o_proj.weight matrix D Q
        model.layers.*.mlp.gate_up_proj.weight matrix 2F D
        model.layers.*.mlp.down_proj.weight matrix D F
        """;
    all.put(
        "phi3",
        rotary("phi3", "Phi3ForCausalLM", 6, EMBEDDING + BEFORE + fused + NORM + HEAD)
            .with("partial_rotary_factor", 2 / 3.0, "pad_token_id", 0));
    LayerNormLayouts.addTo(all);
    T5Layouts.addTo(all);
    return all;
  }

  private static Layout tied(Layout layout) {
    return layout.without("lm_head").with("tie_word_embeddings", true);
  }

  /** Four query heads, two key heads, and a rotation of positions. The head is not tied. */
  private static Layout rotary(String type, String architecture, int head, String tensors) {
    Map<String, Integer> sizes =
        Map.of("V", VOCABULARY, "D", 24, "H", head, "Q", 4 * head, "K", 2 * head, "F", 20, "L", 3);
    Layout layout =
        Layout.of(type, architecture, sizes, tensors)
            .with("vocab_size", VOCABULARY, "hidden_size", 24, "num_hidden_layers", 3)
            .with("num_attention_heads", 4, "num_key_value_heads", 2, "intermediate_size", 20)
            .with("max_position_embeddings", POSITIONS, "rms_norm_eps", 1e-3)
            .with("rope_theta", 10000.0, "rope_scaling", null, "tie_word_embeddings", false)
            .with("hidden_act", type.startsWith("gemma") ? "gelu_pytorch_tanh" : "silu");
    return head == 6 ? layout : layout.with("head_dim", head);
  }

  private static void gemmas(Map<String, Layout> all, String headNorms) {
    Layout gemma = gemma("gemma", "GemmaForCausalLM", LLAMA);
    all.put("gemma", gemma);
    all.put("gemma-untied", gemma.plus(HEAD).with("tie_word_embeddings", false));
    String around =
        LLAMA
            + """
            model.layers.*.pre_feedforward_layernorm.weight gain D
            model.layers.*.post_feedforward_layernorm.weight gain D
            """;
    Layout gemma2 = gemma("gemma2", "Gemma2ForCausalLM", around);
    all.put(
        "gemma2",
        gemma2
            .with("query_pre_attn_scalar", 12, "sliding_window", POSITIONS)
            .with("attn_logit_softcapping", 5.0, "final_logit_softcapping", 8.0));
    Layout gemma3 = gemma("gemma3_text", "Gemma3ForCausalLM", around + headNorms);
    all.put(
        "gemma3",
        gemma3
            .with("query_pre_attn_scalar", 12, "sliding_window", POSITIONS)
            .with("rope_theta", 1_000_000.0, "rope_local_base_freq", 10_000.0)
            .with(
                "layer_types",
                List.of("sliding_attention", "full_attention", "sliding_attention")));
  }

  private static Layout gemma(String type, String architecture, String tensors) {
    return rotary(type, architecture, 8, tensors)
        .replace(" gain ", " gain-1 ")
        .with("hidden_activation", "gelu_pytorch_tanh")
        .with("tie_word_embeddings", true);
  }
}
