package io.github.rmsnorm4j.models.families;

import java.util.Map;

/** The layouts of the families with LayerNorm. */
final class LayerNormLayouts {
  private LayerNormLayouts() {}

  static void addTo(Map<String, Layout> all) {
    Layout gpt2 = gpt2("");
    all.put("gpt2", gpt2);
    all.put("gpt2-prefixed", gpt2("transformer."));
    all.put(
        "gpt2-untied", gpt2("transformer.").plus(Layouts.HEAD).with("tie_word_embeddings", false));
    Layout neox = neox();
    all.put("gpt_neox", neox);
    all.put("gpt_neox-sequential", neox.with("use_parallel_residual", false));
    all.put(
        "gpt_neox-no-bias",
        neox.without("query_key_value.bias", "attention.dense.bias").with("attention_bias", false));
    Layout opt = opt();
    all.put("opt", opt);
    all.put("opt-untied", opt.plus(Layouts.HEAD).with("tie_word_embeddings", false));
    Layout noFinalNorm = opt.without("decoder.final_layer_norm");
    all.put("opt-no-final-norm", noFinalNorm.with("_remove_final_layer_norm", true));
    all.put(
        "opt-350m",
        noFinalNorm
            .with("do_layer_norm_before", false, "word_embed_proj_dim", 16)
            .without("embed_tokens")
            .plus(
                """
                model.decoder.embed_tokens.weight embedding V 16
                model.decoder.project_in.weight matrix D 16
                model.decoder.project_out.weight matrix 16 D
                """));
  }

  private static Layout gpt2(String prefix) {
    Map<String, Integer> sizes =
        Map.of("V", Layouts.VOCABULARY, "D", 24, "F", 40, "P", Layouts.POSITIONS, "L", 3);
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
        .with(
            "vocab_size",
            Layouts.VOCABULARY,
            "n_embd",
            24,
            "n_layer",
            3,
            "n_head",
            4,
            "n_inner",
            40)
        .with(
            "n_positions",
            Layouts.POSITIONS,
            "n_ctx",
            Layouts.POSITIONS,
            "layer_norm_epsilon",
            1e-3)
        .with("activation_function", "gelu_new", "tie_word_embeddings", true);
  }

  private static Layout neox() {
    Map<String, Integer> sizes =
        Map.of("V", Layouts.VOCABULARY, "D", 24, "F", 40, "P", Layouts.POSITIONS, "L", 3, "R", 2);
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
        .with("vocab_size", Layouts.VOCABULARY, "hidden_size", 24, "num_hidden_layers", 3)
        .with("num_attention_heads", 3, "intermediate_size", 40, "layer_norm_eps", 1e-3)
        .with("max_position_embeddings", Layouts.POSITIONS, "hidden_act", "gelu")
        .with("rotary_pct", 0.5, "rotary_emb_base", 10000, "use_parallel_residual", true)
        .with("tie_word_embeddings", false);
  }

  private static Layout opt() {
    Map<String, Integer> sizes =
        Map.of("V", Layouts.VOCABULARY, "D", 24, "F", 40, "P", Layouts.POSITIONS + 2, "L", 3);
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
        .with("vocab_size", Layouts.VOCABULARY, "hidden_size", 24, "num_hidden_layers", 3)
        .with("num_attention_heads", 4, "ffn_dim", 40, "word_embed_proj_dim", 24)
        .with("max_position_embeddings", Layouts.POSITIONS, "activation_function", "relu")
        .with("do_layer_norm_before", true, "enable_bias", true, "tie_word_embeddings", true)
        .with("layer_norm_elementwise_affine", true);
  }
}
