package io.github.rmsnorm4j.oracle;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * GPT-2 and GPT-NeoX in float64 of libtorch's operations, on the tensors as transformers stores
 * them. The formulas are those of its {@code modeling_gpt2.py} and {@code modeling_gpt_neox.py}.
 */
final class GptInTorch {
  static final int VOCABULARY = 31;
  static final int WIDTH = 24;
  static final int HEADS = 3;
  static final int LAYERS = 2;
  static final int MLP = 40;
  static final int POSITIONS = 16;
  static final double EPSILON = 1e-5;
  static final double THETA = 1000;
  private static final int HEAD_WIDTH = WIDTH / HEADS;

  /**
   * What configs differ in.
   *
   * @param rms whether the norms are RMSNorms
   * @param tanh whether the activation is gelu_new
   * @param parallel use_parallel_residual, of GPT-NeoX
   * @param rotary rotary_pct, of GPT-NeoX
   * @param attentionBias attention_bias, of GPT-NeoX
   */
  record Form(
      boolean neoX,
      boolean rms,
      boolean tanh,
      boolean parallel,
      double rotary,
      boolean attentionBias) {}

  private final Form form;
  final Map<String, long[]> shapes = new LinkedHashMap<>();
  final Map<String, float[]> values = new HashMap<>();

  GptInTorch(Form form, long seed) {
    this.form = form;
    if (form.neoX()) {
      neoXShapes();
    } else {
      gpt2Shapes();
    }
    Random random = new Random(seed);
    for (Map.Entry<String, long[]> tensor : shapes.entrySet()) {
      long elements = 1;
      for (long axis : tensor.getValue()) {
        elements *= axis;
      }
      boolean gain = tensor.getKey().matches(".*(ln_.|norm)\\.weight");
      float[] numbers = new float[(int) elements];
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = (float) ((gain ? 1 : 0) + 0.3 * random.nextGaussian());
      }
      values.put(tensor.getKey(), numbers);
    }
  }

  private void shape(String name, long... weight) {
    shapes.put(name + ".weight", weight);
  }

  private void shapes(String name, long bias, long... weight) {
    shape(name, weight);
    shapes.put(name + ".bias", new long[] {bias});
  }

  private void gpt2Shapes() {
    shape("transformer.wte", VOCABULARY, WIDTH);
    shape("transformer.wpe", POSITIONS, WIDTH);
    for (int i = 0; i < LAYERS; i++) {
      String block = "transformer.h." + i + ".";
      shapes(block + "ln_1", WIDTH, WIDTH);
      shapes(block + "attn.c_attn", 3 * WIDTH, WIDTH, 3 * WIDTH);
      shapes(block + "attn.c_proj", WIDTH, WIDTH, WIDTH);
      shapes(block + "ln_2", WIDTH, WIDTH);
      shapes(block + "mlp.c_fc", MLP, WIDTH, MLP);
      shapes(block + "mlp.c_proj", WIDTH, MLP, WIDTH);
    }
    shapes("transformer.ln_f", WIDTH, WIDTH);
    if (form.rms()) {
      shape("lm_head", VOCABULARY, WIDTH);
    }
  }

  private void neoXShapes() {
    shape("gpt_neox.embed_in", VOCABULARY, WIDTH);
    for (int i = 0; i < LAYERS; i++) {
      String block = "gpt_neox.layers." + i + ".";
      shapes(block + "input_layernorm", WIDTH, WIDTH);
      shapes(block + "attention.query_key_value", 3 * WIDTH, 3 * WIDTH, WIDTH);
      shapes(block + "attention.dense", WIDTH, WIDTH, WIDTH);
      if (!form.attentionBias()) {
        shapes.remove(block + "attention.query_key_value.bias");
        shapes.remove(block + "attention.dense.bias");
      }
      shapes(block + "post_attention_layernorm", WIDTH, WIDTH);
      shapes(block + "mlp.dense_h_to_4h", MLP, MLP, WIDTH);
      shapes(block + "mlp.dense_4h_to_h", WIDTH, WIDTH, MLP);
    }
    shapes("gpt_neox.final_layer_norm", WIDTH, WIDTH);
    shape("embed_out", VOCABULARY, WIDTH);
  }

  String config() {
    String type = (form.rms() ? "rmsnorm4j-" : "") + (form.neoX() ? "gpt_neox" : "gpt2");
    String activation = form.tanh() ? "gelu_new" : "gelu";
    if (form.neoX()) {
      return """
      {"model_type": "%s", "vocab_size": %d, "hidden_size": %d, "num_attention_heads": %d,
       "num_hidden_layers": %d, "intermediate_size": %d, "max_position_embeddings": %d,
       "layer_norm_eps": %s, "rotary_emb_base": %s, "rotary_pct": %s, "hidden_act": "%s",
       "use_parallel_residual": %s, "attention_bias": %s}
      """
          .formatted(
              type,
              VOCABULARY,
              WIDTH,
              HEADS,
              LAYERS,
              MLP,
              POSITIONS,
              EPSILON,
              THETA,
              form.rotary(),
              activation,
              form.parallel(),
              form.attentionBias());
    }
    return """
    {"model_type": "%s", "vocab_size": %d, "n_embd": %d, "n_head": %d, "n_layer": %d,
     "n_inner": %d, "n_positions": %d, "layer_norm_epsilon": %s, "activation_function": "%s",
     "tie_word_embeddings": %s}
    """
        .formatted(
            type,
            VOCABULARY,
            WIDTH,
            HEADS,
            LAYERS,
            MLP,
            POSITIONS,
            EPSILON,
            activation,
            !form.rms());
  }

  private Tensor tensor(String name) {
    double[] wide = new double[values.get(name).length];
    for (int i = 0; i < wide.length; i++) {
      wide[i] = values.get(name)[i];
    }
    return Tensor.create(wide, shapes.get(name));
  }

  /** A row of logits for each token. */
  Tensor logits(int[] tokens) {
    long[] ids = new long[tokens.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = tokens[i];
    }
    String embedding = form.neoX() ? "gpt_neox.embed_in.weight" : "transformer.wte.weight";
    Tensor x = torch.embedding(tensor(embedding), Tensor.create(ids, ids.length));
    if (!form.neoX()) {
      x = x.add(tensor("transformer.wpe.weight").narrow(0, 0, ids.length));
    }
    for (int i = 0; i < LAYERS; i++) {
      x = form.neoX() ? neoX(x, "gpt_neox.layers." + i + ".") : gpt2(x, "transformer.h." + i + ".");
    }
    x = norm(x, form.neoX() ? "gpt_neox.final_layer_norm" : "transformer.ln_f");
    String head = form.neoX() ? "embed_out.weight" : "lm_head.weight";
    return x.matmul(tensor(shapes.containsKey(head) ? head : embedding).t());
  }

  private Tensor gpt2(Tensor x, String name) {
    Tensor fused = conv1d(norm(x, name + "ln_1"), name + "attn.c_attn");
    TensorVector parts = fused.split(WIDTH, 1);
    Tensor context = attend(heads(parts.get(0)), heads(parts.get(1)), heads(parts.get(2)));
    Tensor h = x.add(conv1d(context, name + "attn.c_proj"));
    Tensor up = gelu(conv1d(norm(h, name + "ln_2"), name + "mlp.c_fc"));
    return h.add(conv1d(up, name + "mlp.c_proj"));
  }

  private Tensor neoX(Tensor x, String name) {
    Tensor fused =
        linear(norm(x, name + "input_layernorm"), name + "attention.query_key_value")
            .view(-1, HEADS, 3 * HEAD_WIDTH)
            .transpose(0, 1);
    Tensor q = turned(fused.narrow(-1, 0, HEAD_WIDTH));
    Tensor k = turned(fused.narrow(-1, HEAD_WIDTH, HEAD_WIDTH));
    Tensor v = fused.narrow(-1, 2 * HEAD_WIDTH, HEAD_WIDTH);
    Tensor h = x.add(linear(attend(q, k, v), name + "attention.dense"));
    Tensor seen = norm(form.parallel() ? x : h, name + "post_attention_layernorm");
    Tensor up = gelu(linear(seen, name + "mlp.dense_h_to_4h"));
    return h.add(linear(up, name + "mlp.dense_4h_to_h"));
  }

  private Tensor conv1d(Tensor x, String name) {
    return x.matmul(tensor(name + ".weight")).add(tensor(name + ".bias"));
  }

  private Tensor linear(Tensor x, String name) {
    Tensor y = x.matmul(tensor(name + ".weight").t());
    return shapes.containsKey(name + ".bias") ? y.add(tensor(name + ".bias")) : y;
  }

  private Tensor norm(Tensor x, String name) {
    TensorOptional gain = new TensorOptional(tensor(name + ".weight"));
    Tensor bias = tensor(name + ".bias");
    long[] width = {WIDTH};
    return form.rms()
        ? torch.rms_norm(x, width, gain, new DoubleOptional(EPSILON)).add(bias)
        : torch.layer_norm(x, width, gain, new TensorOptional(bias), EPSILON, false);
  }

  private Tensor gelu(Tensor x) {
    if (!form.tanh()) {
      return torch.gelu(x);
    }
    Tensor cubic = x.add(x.pow(new Scalar(3.0)).mul(new Scalar(0.044715)));
    Tensor tanh = cubic.mul(new Scalar(Math.sqrt(2 / Math.PI))).tanh();
    return x.mul(new Scalar(0.5)).mul(tanh.add(new Scalar(1.0)));
  }

  /** (T, d) to (heads, T, h). */
  private static Tensor heads(Tensor x) {
    return x.view(-1, HEADS, HEAD_WIDTH).transpose(0, 1);
  }

  /** Scores, mask, softmax and sum, operation by operation. */
  private static Tensor attend(Tensor q, Tensor k, Tensor v) {
    Tensor scores = q.matmul(k.transpose(1, 2)).div(new Scalar(Math.sqrt(HEAD_WIDTH)));
    Tensor future = torch.ones(q.size(1), q.size(1)).triu(1).gt(new Scalar(0.0));
    Scalar never = new Scalar(Double.NEGATIVE_INFINITY);
    Tensor context = scores.masked_fill(future, never).softmax(-1).matmul(v);
    return context.transpose(0, 1).reshape(-1, WIDTH);
  }

  /** rotate_half on the first rotary_pct of a head, (heads, T, h). */
  private Tensor turned(Tensor x) {
    int width = (int) (HEAD_WIDTH * form.rotary());
    int positions = (int) x.size(1);
    double[] cosines = new double[positions * width];
    double[] sines = new double[positions * width];
    for (int i = 0; i < cosines.length; i++) {
      int pair = i % width % (width / 2);
      double angle = i / width / Math.pow(THETA, 2.0 * pair / width);
      cosines[i] = Math.cos(angle);
      sines[i] = Math.sin(angle);
    }
    Tensor part = x.narrow(-1, 0, width);
    Tensor second = part.narrow(-1, width / 2, width / 2).neg();
    Tensor halves = torch.cat(new TensorVector(second, part.narrow(-1, 0, width / 2)), -1);
    Tensor turned =
        part.mul(Tensor.create(cosines, positions, width))
            .add(halves.mul(Tensor.create(sines, positions, width)));
    return torch.cat(new TensorVector(turned, x.narrow(-1, width, HEAD_WIDTH - width)), -1);
  }
}
