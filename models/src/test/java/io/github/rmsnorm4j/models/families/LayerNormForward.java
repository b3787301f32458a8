package io.github.rmsnorm4j.models.families;

/**
 * GPT-2, GPT-NeoX and OPT, and each of them with RMSNorm in place of LayerNorm, where {@code
 * model_type} begins with {@code rmsnorm4j-}.
 */
final class LayerNormForward {
  private static final String CONVERTED = "rmsnorm4j-";

  private final TinyModel model;
  private final String type;
  private final boolean rms;
  private final String prefix;
  private final int heads;
  private final double epsilon;

  LayerNormForward(TinyModel model) {
    this.model = model;
    this.rms = model.type().startsWith(CONVERTED);
    this.type = rms ? model.type().substring(CONVERTED.length()) : model.type();
    this.prefix =
        switch (type) {
          case "gpt2" -> model.has("transformer.wte.weight") ? "transformer." : "";
          case "gpt_neox" -> "gpt_neox.";
          default -> "model.decoder.";
        };
    this.heads = model.count(type.equals("gpt2") ? "n_head" : "num_attention_heads");
    this.epsilon =
        switch (type) {
          case "gpt2" -> model.number("layer_norm_epsilon");
          case "gpt_neox" -> model.number("layer_norm_eps");
          default -> 1e-5; // the default of LayerNorm; OPT's config.json has no epsilon
        };
  }

  double[][] logits(int[] ids) {
    return switch (type) {
      case "gpt2" -> gpt2(ids);
      case "gpt_neox" -> neox(ids);
      default -> opt(ids);
    };
  }

  private double[][] gpt2(int[] ids) {
    double[][] x = Rows.sum(embed("wte", ids), embed("wpe", positions(ids.length, 0)));
    for (int layer = 0; layer < model.count("n_layer"); layer++) {
      String at = "h." + layer + ".";
      double[][] qkv = conv1d(at + "attn.c_attn", norm(at + "ln_1", x));
      int width = x[0].length;
      double[][] a =
          new Attention(heads, scale(width))
              .apply(
                  Rows.columns(qkv, 0, width),
                  Rows.columns(qkv, width, width),
                  Rows.columns(qkv, 2 * width, width));
      x = Rows.sum(x, conv1d(at + "attn.c_proj", a));
      double[][] inner = Rows.geluTanh(conv1d(at + "mlp.c_fc", norm(at + "ln_2", x)));
      x = Rows.sum(x, conv1d(at + "mlp.c_proj", inner));
    }
    return head("lm_head", "wte", norm("ln_f", x));
  }

  private double[][] neox(int[] ids) {
    double[][] x = embed("embed_in", ids);
    for (int layer = 0; layer < model.count("num_hidden_layers"); layer++) {
      String at = "layers." + layer + ".";
      double[][] a = neoxAttention(at, norm(at + "input_layernorm", x));
      double[][] between = Rows.sum(x, a);
      boolean parallel = model.flag("use_parallel_residual");
      double[][] normalised = norm(at + "post_attention_layernorm", parallel ? x : between);
      double[][] inner = Rows.gelu(linear(at + "mlp.dense_h_to_4h", normalised));
      x = Rows.sum(between, linear(at + "mlp.dense_4h_to_h", inner));
    }
    return head("embed_out", "embed_in", norm("final_layer_norm", x));
  }

  /** The query, key and value of a head stand one after the other, then come those of the next. */
  private double[][] neoxAttention(String at, double[][] x) {
    double[][] qkv = linear(at + "attention.query_key_value", x);
    int width = x[0].length;
    int head = width / heads;
    double[][][] parts = new double[3][x.length][width];
    for (int part = 0; part < 3; part++) {
      for (int t = 0; t < x.length; t++) {
        for (int h = 0; h < heads; h++) {
          System.arraycopy(qkv[t], (3 * h + part) * head, parts[part][t], h * head, head);
        }
      }
    }
    int rotated = (int) (head * model.number("rotary_pct"));
    double theta = model.number("rotary_emb_base");
    double[][] a =
        new Attention(heads, scale(width))
            .apply(
                Attention.rotate(parts[0], head, rotated, theta),
                Attention.rotate(parts[1], head, rotated, theta),
                parts[2]);
    return linear(at + "attention.dense", a);
  }

  private double[][] opt(int[] ids) {
    if (!model.flag("do_layer_norm_before")) {
      throw new IllegalArgumentException("no forward of an OPT that normalises after a branch");
    }
    double[][] x =
        Rows.sum(embed("embed_tokens", ids), embed("embed_positions", positions(ids.length, 2)));
    for (int layer = 0; layer < model.count("num_hidden_layers"); layer++) {
      String at = "layers." + layer + ".";
      double[][] normalised = norm(at + "self_attn_layer_norm", x);
      double[][] a =
          new Attention(heads, scale(x[0].length))
              .apply(
                  linear(at + "self_attn.q_proj", normalised),
                  linear(at + "self_attn.k_proj", normalised),
                  linear(at + "self_attn.v_proj", normalised));
      x = Rows.sum(x, linear(at + "self_attn.out_proj", a));
      double[][] inner = Rows.relu(linear(at + "fc1", norm(at + "final_layer_norm", x)));
      x = Rows.sum(x, linear(at + "fc2", inner));
    }
    boolean last = !model.config().containsKey("_remove_final_layer_norm");
    return head("lm_head", "embed_tokens", last ? norm("final_layer_norm", x) : x);
  }

  private double scale(int width) {
    return 1 / Math.sqrt((double) width / heads);
  }

  private static int[] positions(int count, int first) {
    int[] positions = new int[count];
    for (int t = 0; t < count; t++) {
      positions[t] = first + t;
    }
    return positions;
  }

  private double[][] embed(String name, int[] ids) {
    return Rows.embed(model.get(prefix + name + ".weight"), ids);
  }

  private double[][] norm(String name, double[][] x) {
    double[] gain = model.get(prefix + name + ".weight").elements();
    double[] bias = model.elementsOrNull(prefix + name + ".bias");
    return rms ? Rows.rmsNorm(x, gain, 0, bias, epsilon) : Rows.layerNorm(x, gain, bias, epsilon);
  }

  private double[][] linear(String name, double[][] x) {
    Values matrix = model.get(prefix + name + ".weight");
    return Rows.linear(x, matrix, model.elementsOrNull(prefix + name + ".bias"));
  }

  private double[][] conv1d(String name, double[][] x) {
    Values matrix = model.get(prefix + name + ".weight");
    return Rows.conv1d(x, matrix, model.get(prefix + name + ".bias").elements());
  }

  /** A head of its own may have a bias: the folded bias of the final norm. */
  private double[][] head(String name, String embedding, double[][] x) {
    if (model.flag("tie_word_embeddings")) {
      return Rows.linear(x, model.get(prefix + embedding + ".weight"), null);
    }
    return Rows.linear(x, model.get(name + ".weight"), model.elementsOrNull(name + ".bias"));
  }
}
