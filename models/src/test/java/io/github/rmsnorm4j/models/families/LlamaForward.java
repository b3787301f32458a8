package io.github.rmsnorm4j.models.families;

import java.util.List;

/** Llama and what is built like it: RMSNorm, rotated positions, a gated MLP. */
final class LlamaForward {
  private final TinyModel model;
  private final String type;
  private final boolean gemma;
  private final int width;
  private final int heads;
  private final int keyHeads;
  private final int head;

  LlamaForward(TinyModel model) {
    this.model = model;
    this.type = model.type();
    this.gemma = type.startsWith("gemma");
    this.width = model.count("hidden_size");
    this.heads = model.count("num_attention_heads");
    this.keyHeads = model.count("num_key_value_heads");
    this.head = model.config().containsKey("head_dim") ? model.count("head_dim") : width / heads;
  }

  double[][] logits(int[] ids) {
    double[][] x = Rows.embed(model.get("model.embed_tokens.weight"), ids);
    if (gemma) {
      x = Rows.map(x, v -> v * Math.sqrt(width));
    }
    for (int layer = 0; layer < model.count("num_hidden_layers"); layer++) {
      x = block(x, layer, "model.layers." + layer + ".");
    }
    boolean tied = model.flag("tie_word_embeddings");
    Values matrix = model.get(tied ? "model.embed_tokens.weight" : "lm_head.weight");
    double[][] y = Rows.linear(norm("model.norm", x), matrix, null);
    if (type.equals("gemma2")) {
      double cap = model.number("final_logit_softcapping");
      y = Rows.map(y, v -> Attention.capped(v, cap));
    }
    return y;
  }

  /** Where the norms stand: before a branch, after it, or both. */
  private double[][] block(double[][] x, int layer, String at) {
    switch (type) {
      case "olmo2" -> {
        x = Rows.sum(x, norm(at + "post_attention_layernorm", attention(x, layer, at)));
        return Rows.sum(x, norm(at + "post_feedforward_layernorm", mlp(x, at)));
      }
      case "gemma2", "gemma3_text" -> {
        double[][] a = attention(norm(at + "input_layernorm", x), layer, at);
        x = Rows.sum(x, norm(at + "post_attention_layernorm", a));
        double[][] m = mlp(norm(at + "pre_feedforward_layernorm", x), at);
        return Rows.sum(x, norm(at + "post_feedforward_layernorm", m));
      }
      default -> {
        x = Rows.sum(x, attention(norm(at + "input_layernorm", x), layer, at));
        return Rows.sum(x, mlp(norm(at + "post_attention_layernorm", x), at));
      }
    }
  }

  private double[][] norm(String name, double[][] x) {
    double[] gain = model.get(name + ".weight").elements();
    return Rows.rmsNorm(x, gain, gemma ? 1 : 0, null, model.number("rms_norm_eps"));
  }

  /** A norm of each head, all with the same gain. */
  private double[][] headNorm(String name, double[][] x) {
    double[][] y = new double[x.length][x[0].length];
    for (int at = 0; at < x[0].length; at += head) {
      double[][] normalised = norm(name, Rows.columns(x, at, head));
      for (int t = 0; t < x.length; t++) {
        System.arraycopy(normalised[t], 0, y[t], at, head);
      }
    }
    return y;
  }

  private double[][] attention(double[][] x, int layer, String at) {
    double[][] q;
    double[][] k;
    double[][] v;
    if (type.equals("phi3")) {
      double[][] all = linear(at + "self_attn.qkv_proj", x);
      q = Rows.columns(all, 0, heads * head);
      k = Rows.columns(all, heads * head, keyHeads * head);
      v = Rows.columns(all, (heads + keyHeads) * head, keyHeads * head);
    } else {
      q = linear(at + "self_attn.q_proj", x);
      k = linear(at + "self_attn.k_proj", x);
      v = linear(at + "self_attn.v_proj", x);
    }
    switch (type) {
      case "qwen3", "gemma3_text" -> {
        q = headNorm(at + "self_attn.q_norm", q);
        k = headNorm(at + "self_attn.k_norm", k);
      }
      case "olmo2" -> {
        q = norm(at + "self_attn.q_norm", q);
        k = norm(at + "self_attn.k_norm", k);
      }
      default -> {}
    }
    double theta = theta(layer);
    int rotated =
        type.equals("phi3") ? (int) Math.rint(head * model.number("partial_rotary_factor")) : head;
    boolean scalar = type.equals("gemma2") || type.equals("gemma3_text");
    double scale = 1 / Math.sqrt(scalar ? model.number("query_pre_attn_scalar") : head);
    double cap =
        type.equals("gemma2") ? model.number("attn_logit_softcapping") : Double.POSITIVE_INFINITY;
    double[][] y =
        new Attention(heads, keyHeads, scale, cap, true)
            .apply(
                Attention.rotate(q, head, rotated, theta),
                Attention.rotate(k, head, rotated, theta),
                v);
    return linear(at + "self_attn.o_proj", y);
  }

  private double theta(int layer) {
    if (type.equals("gemma3_text")) {
      Object kind = ((List<?>) model.config().get("layer_types")).get(layer);
      return model.number(kind.equals("sliding_attention") ? "rope_local_base_freq" : "rope_theta");
    }
    return model.number("rope_theta");
  }

  private double[][] mlp(double[][] x, String at) {
    double[][] gate;
    double[][] up;
    if (type.equals("phi3")) {
      int inner = model.count("intermediate_size");
      double[][] both = linear(at + "mlp.gate_up_proj", x);
      gate = Rows.columns(both, 0, inner);
      up = Rows.columns(both, inner, inner);
    } else {
      gate = linear(at + "mlp.gate_proj", x);
      up = linear(at + "mlp.up_proj", x);
    }
    double[][] open = gemma ? Rows.geluTanh(gate) : Rows.swish(gate);
    return linear(at + "mlp.down_proj", Rows.product(open, up));
  }

  private double[][] linear(String name, double[][] x) {
    return Rows.linear(x, model.get(name + ".weight"), model.elementsOrNull(name + ".bias"));
  }
}
