package io.github.rmsnorm4j.checkpoint.families;

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

  private static final int VOCABULARY = 37;
  private static final int POSITIONS = 24;

  private static final String EMBEDDING = "model.embed_tokens.weight embedding V D\n";
  private static final String HEAD = "lm_head.weight matrix V D\n";
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
    all.put("mistral", rotary("mistral", "MistralForCausalLM", 10, LLAMA + HEAD));
    Layout qwen2 =
        rotary(
            "qwen2",
            "Qwen2ForCausalLM",
            6,
            LLAMA
                + """
                model.layers.*.self_attn.q_proj.bias bias Q
                model.layers.*.self_attn.k_proj.bias bias K
                model.layers.*.self_attn.v_proj.bias bias K
                """);
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
    layerNorms(all);
    t5(all);
    return all;
  }

  private static Layout tied(Layout layout) {
    return layout.replace(HEAD, "").with("tie_word_embeddings", true);
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

  private static void layerNorms(Map<String, Layout> all) {
    Layout gpt2 = gpt2("");
    all.put("gpt2", gpt2);
    all.put("gpt2-prefixed", gpt2("transformer."));
    all.put("gpt2-untied", gpt2("transformer.").plus(HEAD).with("tie_word_embeddings", false));
    Layout neox = neox();
    all.put("gpt_neox", neox);
    all.put("gpt_neox-sequential", neox.with("use_parallel_residual", false));
    Layout opt = opt();
    all.put("opt", opt);
    all.put("opt-untied", opt.plus(HEAD).with("tie_word_embeddings", false));
    all.put(
        "opt-350m",
        opt.with("do_layer_norm_before", false, "word_embed_proj_dim", 16)
            .replace("model.decoder.embed_tokens.weight embedding V D", "")
            .replace(
                "model.decoder.final_layer_norm.weight gain D\nmodel.decoder.final_layer_norm.bias"
                    + " bias D\n",
                "")
            .plus(
                """
                model.decoder.embed_tokens.weight embedding V 16
                model.decoder.project_in.weight matrix D 16
                model.decoder.project_out.weight matrix 16 D
                """));
  }

  private static Layout gpt2(String prefix) {
    Map<String, Integer> sizes = Map.of("V", VOCABULARY, "D", 24, "F", 40, "P", POSITIONS, "L", 3);
    String tensors =
        """
        wte.weight embedding V D
        wpe.weight embedding P D
        h.*.ln_1.weight gain D
        h.*.ln_1.bias bias D
        h.*.attn.bias mask 1 1 P P
        h.*.attn.c_attn.weight conv D 3D
        h.*.attn.c_attn.bias bias 3D
        h.*.attn.c_proj.weight conv D D
        h.*.attn.c_proj.bias bias D
        h.*.ln_2.weight gain D
        h.*.ln_2.bias bias D
        h.*.mlp.c_fc.weight conv D F
        h.*.mlp.c_fc.bias bias F
        h.*.mlp.c_proj.weight conv F D
        h.*.mlp.c_proj.bias bias D
        ln_f.weight gain D
        ln_f.bias bias D
        """;
    return Layout.of("gpt2", "GPT2LMHeadModel", sizes, tensors.replaceAll("(?m)^", prefix))
        .with("vocab_size", VOCABULARY, "n_embd", 24, "n_layer", 3, "n_head", 4, "n_inner", 40)
        .with("n_positions", POSITIONS, "n_ctx", POSITIONS, "layer_norm_epsilon", 1e-3)
        .with("activation_function", "gelu_new", "tie_word_embeddings", true);
  }

  private static Layout neox() {
    Map<String, Integer> sizes =
        Map.of("V", VOCABULARY, "D", 24, "F", 40, "P", POSITIONS, "L", 3, "R", 2);
    String layer =
        """
        input_layernorm.weight gain D
        input_layernorm.bias bias D
        post_attention_layernorm.weight gain D
        post_attention_layernorm.bias bias D
        attention.bias mask 1 1 P P
        attention.masked_bias frequencies
        attention.rotary_emb.inv_freq frequencies R
        attention.query_key_value.weight matrix 3D D
        attention.query_key_value.bias bias 3D
        attention.dense.weight matrix D D
        attention.dense.bias bias D
        mlp.dense_h_to_4h.weight matrix F D
        mlp.dense_h_to_4h.bias bias F
        mlp.dense_4h_to_h.weight matrix D F
        mlp.dense_4h_to_h.bias bias D
        """;
    String tensors =
        "gpt_neox.embed_in.weight embedding V D\n"
            + layer.replaceAll("(?m)^(?=.)", "gpt_neox.layers.*.")
            + """
            gpt_neox.final_layer_norm.weight gain D
            gpt_neox.final_layer_norm.bias bias D
            embed_out.weight matrix V D
            """;
    return Layout.of("gpt_neox", "GPTNeoXForCausalLM", sizes, tensors)
        .with("vocab_size", VOCABULARY, "hidden_size", 24, "num_hidden_layers", 3)
        .with("num_attention_heads", 3, "intermediate_size", 40, "layer_norm_eps", 1e-3)
        .with("max_position_embeddings", POSITIONS, "hidden_act", "gelu")
        .with("rotary_pct", 0.5, "rotary_emb_base", 10000, "use_parallel_residual", true)
        .with("tie_word_embeddings", false);
  }

  private static Layout opt() {
    Map<String, Integer> sizes =
        Map.of("V", VOCABULARY, "D", 24, "F", 40, "P", POSITIONS + 2, "L", 3);
    String layer =
        """
        self_attn.q_proj.weight matrix D D
        self_attn.q_proj.bias bias D
        self_attn.k_proj.weight matrix D D
        self_attn.k_proj.bias bias D
        self_attn.v_proj.weight matrix D D
        self_attn.v_proj.bias bias D
        self_attn.out_proj.weight matrix D D
        self_attn.out_proj.bias bias D
        self_attn_layer_norm.weight gain D
        self_attn_layer_norm.bias bias D
        fc1.weight matrix F D
        fc1.bias bias F
        fc2.weight matrix D F
        fc2.bias bias D
        final_layer_norm.weight gain D
        final_layer_norm.bias bias D
        """;
    String tensors =
        """
        model.decoder.embed_tokens.weight embedding V D
        model.decoder.embed_positions.weight embedding P D
        model.decoder.final_layer_norm.weight gain D
        model.decoder.final_layer_norm.bias bias D
        """
            + layer.replaceAll("(?m)^(?=.)", "model.decoder.layers.*.");
    return Layout.of("opt", "OPTForCausalLM", sizes, tensors)
        .with("vocab_size", VOCABULARY, "hidden_size", 24, "num_hidden_layers", 3)
        .with("num_attention_heads", 4, "ffn_dim", 40, "word_embed_proj_dim", 24)
        .with("max_position_embeddings", POSITIONS, "activation_function", "relu")
        .with("do_layer_norm_before", true, "enable_bias", true, "tie_word_embeddings", true)
        .with("layer_norm_elementwise_affine", true);
  }

  private static void t5(Map<String, Layout> all) {
    String relu = "layer.N.DenseReluDense.wi.weight matrix F D\n";
    String gated =
        """
        layer.N.DenseReluDense.wi_0.weight matrix F D
        layer.N.DenseReluDense.wi_1.weight matrix F D
        """;
    all.put("t5", t5(relu).with("feed_forward_proj", "relu", "tie_word_embeddings", true));
    all.put(
        "t5-gated",
        t5(gated).plus(HEAD).with("feed_forward_proj", "gated-gelu", "tie_word_embeddings", false));
    all.put(
        "t5-gated-tied",
        t5(gated).with("feed_forward_proj", "gated-gelu", "tie_word_embeddings", true));
  }

  private static Layout t5(String inner) {
    Map<String, Integer> sizes =
        Map.of("V", VOCABULARY, "D", 24, "Q", 30, "F", 20, "B", 8, "h", 3, "L", 2, "M", 3);
    String attention =
        """
        layer.N.layer_norm.weight gain D
        layer.N.Name.q.weight matrix Q D
        layer.N.Name.k.weight matrix Q D
        layer.N.Name.v.weight matrix Q D
        layer.N.Name.o.weight matrix D Q
        """;
    String mlp =
        "layer.N.layer_norm.weight gain D\n"
            + inner
            + "layer.N.DenseReluDense.wo.weight matrix D F\n";
    String self = attention.replace(".N.", ".0.").replace("Name", "SelfAttention");
    String cross = attention.replace(".N.", ".1.").replace("Name", "EncDecAttention");
    String encoder = self + mlp.replace(".N.", ".1.");
    String decoder = self + cross + mlp.replace(".N.", ".2.");
    String tensors =
        "shared.weight embedding V D\n"
            + encoder.replaceAll("(?m)^(?=.)", "encoder.block.*.")
            + "encoder.final_layer_norm.weight gain D\n"
            + "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight bias B h\n"
            + decoder.replaceAll("(?m)^(?=.)", "decoder.block.#.")
            + "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight bias B h\n"
            + "decoder.final_layer_norm.weight gain D\n";
    return Layout.of("t5", "T5ForConditionalGeneration", sizes, tensors)
        .with("vocab_size", VOCABULARY, "d_model", 24, "d_kv", 10, "num_heads", 3, "d_ff", 20)
        .with("num_layers", 2, "num_decoder_layers", 3, "layer_norm_epsilon", 1e-3)
        .with("relative_attention_num_buckets", 8, "relative_attention_max_distance", 16)
        .with("is_encoder_decoder", true);
  }
}
