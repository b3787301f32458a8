package io.github.rmsnorm4j.models.families;

/** T5: an encoder, and a decoder whose blocks read the encoder's output. */
final class T5Forward {
  private final TinyModel model;
  private final int heads;

  T5Forward(TinyModel model) {
    this.model = model;
    this.heads = model.count("num_heads");
  }

  double[][] logits(int[] encoderIds, int[] decoderIds) {
    double[][] encoded = Rows.embed(model.get("shared.weight"), encoderIds);
    for (int block = 0; block < model.count("num_layers"); block++) {
      String at = "encoder.block." + block + ".layer.";
      encoded = self(encoded, at, "encoder", false);
      encoded = mlp(encoded, at + "1.");
    }
    encoded = norm("encoder.final_layer_norm", encoded);
    double[][] x = Rows.embed(model.get("shared.weight"), decoderIds);
    for (int block = 0; block < model.count("num_decoder_layers"); block++) {
      String at = "decoder.block." + block + ".layer.";
      x = self(x, at, "decoder", true);
      double[][] normalised = norm(at + "1.layer_norm", x);
      x = Rows.sum(x, attention(normalised, encoded, at + "1.EncDecAttention.", false, null));
      x = mlp(x, at + "2.");
    }
    x = norm("decoder.final_layer_norm", x);
    if (!model.flag("tie_word_embeddings")) {
      return Rows.linear(x, model.get("lm_head.weight"), null);
    }
    double scale = 1 / Math.sqrt(model.number("d_model"));
    return Rows.linear(Rows.map(x, v -> v * scale), model.get("shared.weight"), null);
  }

  private double[][] self(double[][] x, String at, String stack, boolean causal) {
    double[][] normalised = norm(at + "0.layer_norm", x);
    String first = stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight";
    Attention.Bias bias = bias(model.get(first), !causal);
    String name = at + "0.SelfAttention.";
    return Rows.sum(x, attention(normalised, normalised, name, causal, bias));
  }

  private double[][] attention(
      double[][] x, double[][] other, String name, boolean causal, Attention.Bias bias) {
    Attention attention = new Attention(heads, heads, 1, Double.POSITIVE_INFINITY, causal);
    double[][] q = linear(name + "q", x);
    double[][] k = linear(name + "k", other);
    double[][] v = linear(name + "v", other);
    return linear(
        name + "o", bias == null ? attention.apply(q, k, v) : attention.apply(q, k, v, bias));
  }

  /** The bias of a distance: the embedding of its bucket, a number for each head. */
  private Attention.Bias bias(Values embedding, boolean both) {
    int buckets = model.count("relative_attention_num_buckets");
    int most = model.count("relative_attention_max_distance");
    return (head, query, key) -> embedding.at(bucket(key - query, both, buckets, most), head);
  }

  /**
   * Half of the buckets hold one distance each, the others ranges that grow with the logarithm of
   * the distance. Where a position sees both sides, the later keys have buckets of their own.
   */
  static int bucket(int ahead, boolean both, int buckets, int most) {
    int first = 0;
    int distance = Math.max(-ahead, 0);
    if (both) {
      buckets /= 2;
      first = ahead > 0 ? buckets : 0;
      distance = Math.abs(ahead);
    }
    int exact = buckets / 2;
    if (distance < exact) {
      return first + distance;
    }
    double share = Math.log((double) distance / exact) / Math.log((double) most / exact);
    return first + Math.min(buckets - 1, exact + (int) (share * (buckets - exact)));
  }

  private double[][] mlp(double[][] x, String at) {
    double[][] normalised = norm(at + "layer_norm", x);
    String name = at + "DenseReluDense.";
    double[][] inner =
        switch ((String) model.config().get("feed_forward_proj")) {
          case "relu" -> Rows.relu(linear(name + "wi", normalised));
          case "gated-gelu" ->
              Rows.product(
                  Rows.geluTanh(linear(name + "wi_0", normalised)),
                  linear(name + "wi_1", normalised));
          default -> throw new IllegalArgumentException("no such MLP");
        };
    return Rows.sum(x, linear(name + "wo", inner));
  }

  private double[][] norm(String name, double[][] x) {
    double[] gain = model.get(name + ".weight").elements();
    return Rows.rmsNorm(x, gain, 0, null, model.number("layer_norm_epsilon"));
  }

  private double[][] linear(String name, double[][] x) {
    return Rows.linear(x, model.get(name + ".weight"), null);
  }
}
