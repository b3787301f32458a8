package io.github.rmsnorm4j.oracle;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.transformer.ModelConfig;
import io.github.rmsnorm4j.models.transformer.Parameter;
import io.github.rmsnorm4j.models.transformer.Placement;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/** The model in float32 of libtorch's own operations, with its norms and its attention. */
final class TransformerInTorch {
  private final ModelConfig config;
  private final int batch;
  private final int sequence;
  private final Map<String, Tensor> tensors = new HashMap<>();

  TransformerInTorch(Weights weights, int batch, int sequence) {
    config = weights.config();
    this.batch = batch;
    this.sequence = sequence;
    for (Parameter parameter : weights.parameters()) {
      float[] values = weights.values(parameter).toArray(ValueLayout.JAVA_FLOAT);
      long[] shape = parameter.shape().stream().mapToLong(Integer::longValue).toArray();
      Tensor tensor = Tensor.create(values, shape);
      tensor.set_requires_grad(true);
      tensors.put(parameter.name(), tensor);
    }
  }

  Tensor gradient(String name) {
    return tensors.get(name).grad();
  }

  /** The mean cross-entropy of the tokens that are wanted. */
  Tensor loss(int[] tokens, int[] targets) {
    float[] wanted = new float[targets.length * config.vocabulary()];
    int count = 0;
    for (int i = 0; i < targets.length; i++) {
      if (targets[i] >= 0) {
        wanted[i * config.vocabulary() + targets[i]] = 1;
        count++;
      }
    }
    Tensor mask = Tensor.create(wanted, targets.length, config.vocabulary());
    return logits(tokens).log_softmax(-1).mul(mask).sum().mul(new Scalar(-1.0 / count));
  }

  /** (N, V). */
  Tensor logits(int[] tokens) {
    Tensor x = rows("model.embed_tokens.weight", Arrays.stream(tokens));
    if (config.form().rotaryShare() == 0) {
      IntStream positions = IntStream.range(0, tokens.length).map(n -> n % sequence);
      x = x.add(rows("model.embed_positions.weight", positions));
    }
    for (int i = 0; i < config.layers(); i++) {
      x = block(x, "model.layers." + i + ".");
    }
    if (config.placement() != Placement.POST) {
      x = norm(x, "model.norm");
    }
    return linear(x, config.tied() ? "model.embed_tokens" : "lm_head");
  }

  private Tensor rows(String name, IntStream indices) {
    long[] rows = indices.asLongStream().toArray();
    return torch.embedding(tensors.get(name), Tensor.create(rows, rows.length));
  }

  private Tensor block(Tensor x, String name) {
    String attn = name + "self_attn.";
    String mlp = name + "mlp.";
    return switch (config.placement()) {
      case PRE -> {
        Tensor h = x.add(attention(norm(x, name + "input_layernorm"), attn));
        Tensor seen = config.form().parallelResidual() ? x : h;
        yield h.add(mlp(norm(seen, name + "post_attention_layernorm"), mlp));
      }
      case POST -> {
        Tensor h = norm(x.add(attention(x, attn)), name + "post_attention_layernorm");
        yield norm(h.add(mlp(h, mlp)), name + "post_feedforward_layernorm");
      }
      case SANDWICH -> {
        Tensor a = attention(norm(x, name + "input_layernorm"), attn);
        Tensor h = x.add(norm(a, name + "post_attention_layernorm"));
        Tensor m = mlp(norm(h, name + "pre_feedforward_layernorm"), mlp);
        yield h.add(norm(m, name + "post_feedforward_layernorm"));
      }
    };
  }

  private Tensor norm(Tensor x, String name) {
    NormSpec spec = config.norm();
    if (spec == null) {
      return x;
    }
    double epsilon = spec.epsilon().orElseThrow();
    long[] width = {config.width()};
    Tensor gain = tensors.get(name + ".weight");
    if (spec.kind() == NormSpec.Kind.LAYER_NORM) {
      TensorOptional bias = new TensorOptional(tensors.get(name + ".bias"));
      return torch.layer_norm(x, width, new TensorOptional(gain), bias, epsilon, false);
    }
    if (spec.part().isWhole()) {
      Tensor y = rmsNorm(x, gain, epsilon);
      return config.form().normBias() ? y.add(tensors.get(name + ".bias")) : y;
    }
    long k = spec.part().elements(config.width());
    Tensor square = x.narrow(-1, 0, k).square();
    Tensor mean = square.mean(new long[] {-1}, true, new ScalarTypeOptional());
    return x.mul(mean.add(new Scalar(epsilon)).rsqrt()).mul(gain);
  }

  private static Tensor rmsNorm(Tensor x, Tensor gain, double epsilon) {
    long[] width = {gain.size(0)};
    return torch.rms_norm(x, width, new TensorOptional(gain), new DoubleOptional(epsilon));
  }

  private Tensor attention(Tensor x, String name) {
    Tensor q = rotated(heads(linear(x, name + "q_proj")), name + "q_norm.weight");
    Tensor k = rotated(heads(linear(x, name + "k_proj")), name + "k_norm.weight");
    Tensor v = heads(linear(x, name + "v_proj"));
    Tensor context =
        torch.scaled_dot_product_attention(
            q, shared(k), shared(v), new TensorOptional(), 0, true, new DoubleOptional(), false);
    long columns = (long) config.heads() * config.headWidth();
    return linear(context.transpose(1, 2).reshape(-1, columns), name + "o_proj");
  }

  /** (N, heads * h) to (B, heads, T, h). */
  private Tensor heads(Tensor x) {
    return x.view(batch, sequence, -1, config.headWidth()).transpose(1, 2);
  }

  /** Each key or value head as often as query heads share it. */
  private Tensor shared(Tensor x) {
    int group = config.heads() / config.keyValueHeads();
    return x.repeat_interleave(group, new LongOptional(1), new LongOptional());
  }

  private Tensor rotated(Tensor heads, String norm) {
    double epsilon = config.headNorm().epsilon().orElseThrow();
    Tensor x = config.queryKeyNorm() ? rmsNorm(heads, tensors.get(norm), epsilon) : heads;
    int rotated = (int) (config.headWidth() * config.form().rotaryShare());
    if (rotated == 0) {
      return x;
    }
    Tensor first = x.narrow(-1, 0, rotated);
    int half = rotated / 2;
    Tensor turned =
        torch.cat(
            new TensorVector(first.narrow(-1, half, half).neg(), first.narrow(-1, 0, half)), -1);
    Tensor y = first.mul(angles(rotated, true)).add(turned.mul(angles(rotated, false)));
    return torch.cat(new TensorVector(y, x.narrow(-1, rotated, config.headWidth() - rotated)), -1);
  }

  private Tensor angles(int rotated, boolean cosine) {
    float[] values = new float[sequence * rotated];
    for (int i = 0; i < values.length; i++) {
      int pair = i % rotated % (rotated / 2);
      double angle = i / rotated / Math.pow(config.ropeTheta(), 2.0 * pair / rotated);
      values[i] = (float) (cosine ? Math.cos(angle) : Math.sin(angle));
    }
    return Tensor.create(values, sequence, rotated);
  }

  private Tensor mlp(Tensor x, String name) {
    Tensor up = linear(x, name + "up_proj");
    Tensor hidden =
        switch (config.form().mlp()) {
          case SWIGLU -> torch.silu(linear(x, name + "gate_proj")).mul(up);
          case GELU -> torch.gelu(up);
          case GELU_TANH -> torch.gelu(up, "tanh");
          case RELU -> torch.relu(up);
        };
    return linear(hidden, name + "down_proj");
  }

  private Tensor linear(Tensor x, String name) {
    Tensor y = x.matmul(tensors.get(name + ".weight").t());
    Tensor bias = tensors.get(name + ".bias");
    return bias == null ? y : y.add(bias);
  }
}
