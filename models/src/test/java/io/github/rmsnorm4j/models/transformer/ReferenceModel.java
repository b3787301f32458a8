package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.NormSpec;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The whole model's loss in plain float64 loops, a line or two to a formula. Nothing of it is the
 * library's but names and shapes.
 */
final class ReferenceModel {
  private final ModelConfig config;
  private final int sequence;
  final Map<String, double[]> tensors = new HashMap<>();

  ReferenceModel(Weights weights, int sequence) {
    config = weights.config();
    this.sequence = sequence;
    for (Parameter parameter : weights.parameters()) {
      double[] values = new double[(int) parameter.elements()];
      for (int i = 0; i < values.length; i++) {
        values[i] = weights.values(parameter).getAtIndex(ValueLayout.JAVA_FLOAT, i);
      }
      tensors.put(parameter.name(), values);
    }
  }

  double loss(int[] tokens, int[] targets) {
    double sum = 0;
    int wanted = 0;
    for (int first = 0; first < tokens.length; first += sequence) {
      double[][] logits = logits(Arrays.copyOfRange(tokens, first, first + sequence));
      for (int t = 0; t < sequence; t++) {
        int target = targets[first + t];
        if (target >= 0) {
          wanted++;
          double total = 0;
          for (double logit : logits[t]) {
            total += Math.exp(logit);
          }
          sum += Math.log(total) - logits[t][target];
        }
      }
    }
    return sum / wanted;
  }

  double[][] logits(int[] tokens) {
    double[] embedding = tensors.get("model.embed_tokens.weight");
    double[][] x = new double[sequence][];
    for (int t = 0; t < sequence; t++) {
      x[t] = row(embedding, tokens[t], config.width());
    }
    boolean pre = config.placement() == Placement.PRE;
    boolean post = config.placement() == Placement.POST;
    for (int i = 0; i < config.layers(); i++) {
      String block = "model.layers." + i + ".";
      String beforeAttention = post ? null : block + "input_layernorm";
      String afterAttention = pre ? null : block + "post_attention_layernorm";
      x = residual(x, beforeAttention, afterAttention, h -> attention(h, block + "self_attn."));
      String beforeMlp =
          post ? null : block + (pre ? "post_attention_layernorm" : "pre_feedforward_layernorm");
      String afterMlp = pre ? null : block + "post_feedforward_layernorm";
      x = residual(x, beforeMlp, afterMlp, h -> mlp(h, block + "mlp."));
    }
    x = post ? x : norm(x, "model.norm");
    return linear(x, config.tied() ? "model.embed_tokens" : "lm_head");
  }

  private interface Branch {
    double[][] of(double[][] x);
  }

  private double[][] residual(double[][] x, String before, String after, Branch f) {
    if (config.norm() == null) {
      return sum(x, f.of(x));
    }
    return switch (config.placement()) {
      case PRE -> sum(x, f.of(norm(x, before)));
      case POST -> norm(sum(x, f.of(x)), after);
      case SANDWICH -> sum(x, norm(f.of(norm(x, before)), after));
    };
  }

  private double[][] norm(double[][] x, String name) {
    if (config.norm() == null) {
      return x;
    }
    double[] gain = tensors.get(name + ".weight");
    double[] bias = tensors.get(name + ".bias");
    double[][] y = new double[x.length][];
    for (int t = 0; t < x.length; t++) {
      int n = x[t].length;
      int k = config.norm().part().elements(n);
      double mean = 0;
      for (int i = 0; config.norm().kind() == NormSpec.Kind.LAYER_NORM && i < n; i++) {
        mean += x[t][i] / n;
      }
      double square = 0;
      for (int i = 0; i < k; i++) {
        square += (x[t][i] - mean) * (x[t][i] - mean) / k;
      }
      y[t] = new double[n];
      for (int i = 0; i < n; i++) {
        double normed =
            (x[t][i] - mean) / Math.sqrt(square + config.norm().epsilon().orElseThrow());
        y[t][i] = normed * gain[i] + (bias == null ? 0 : bias[i]);
      }
    }
    return y;
  }

  private double[][] attention(double[][] x, String name) {
    int h = config.headWidth();
    double[][] q = heads(linear(x, name + "q_proj"), name + "q_norm");
    double[][] k = heads(linear(x, name + "k_proj"), name + "k_norm");
    double[][] v = linear(x, name + "v_proj");
    double[][] context = new double[sequence][config.heads() * h];
    for (int head = 0; head < config.heads(); head++) {
      int shared = head * config.keyValueHeads() / config.heads();
      for (int t = 0; t < sequence; t++) {
        double[] weight = new double[t + 1];
        double total = 0;
        for (int s = 0; s <= t; s++) {
          double score = 0;
          for (int i = 0; i < h; i++) {
            score += q[t][head * h + i] * k[s][shared * h + i];
          }
          weight[s] = Math.exp(score / Math.sqrt(h));
          total += weight[s];
        }
        for (int s = 0; s <= t; s++) {
          for (int i = 0; i < h; i++) {
            context[t][head * h + i] += weight[s] / total * v[s][shared * h + i];
          }
        }
      }
    }
    return linear(context, name + "o_proj");
  }

  /** Each head normalised, if heads are, and turned by its position. */
  private double[][] heads(double[][] x, String norm) {
    int h = config.headWidth();
    double[] gain = tensors.get(norm + ".weight");
    for (int t = 0; t < sequence; t++) {
      for (int first = 0; first < x[t].length; first += h) {
        double square = 0;
        for (int i = 0; i < h; i++) {
          square += x[t][first + i] * x[t][first + i] / h;
        }
        for (int i = 0; gain != null && i < h; i++) {
          x[t][first + i] *=
              gain[i] / Math.sqrt(square + config.headNorm().epsilon().orElseThrow());
        }
        for (int i = 0; i < h / 2; i++) {
          double angle = t / Math.pow(config.ropeTheta(), 2.0 * i / h);
          double a = x[t][first + i];
          double b = x[t][first + i + h / 2];
          x[t][first + i] = a * Math.cos(angle) - b * Math.sin(angle);
          x[t][first + i + h / 2] = a * Math.sin(angle) + b * Math.cos(angle);
        }
      }
    }
    return x;
  }

  private double[][] mlp(double[][] x, String name) {
    double[][] gate = linear(x, name + "gate_proj");
    double[][] hidden = linear(x, name + "up_proj");
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < hidden[t].length; i++) {
        hidden[t][i] *= gate[t][i] / (1 + Math.exp(-gate[t][i]));
      }
    }
    return linear(hidden, name + "down_proj");
  }

  private double[][] linear(double[][] x, String name) {
    double[] weight = tensors.get(name + ".weight");
    double[] bias = tensors.get(name + ".bias");
    int inputs = x[0].length;
    double[][] y = new double[x.length][weight.length / inputs];
    for (int t = 0; t < x.length; t++) {
      for (int j = 0; j < y[t].length; j++) {
        y[t][j] = bias == null ? 0 : bias[j];
        for (int i = 0; i < inputs; i++) {
          y[t][j] += x[t][i] * weight[j * inputs + i];
        }
      }
    }
    return y;
  }

  private static double[][] sum(double[][] a, double[][] b) {
    double[][] sum = new double[a.length][a[0].length];
    for (int t = 0; t < a.length; t++) {
      for (int i = 0; i < sum[t].length; i++) {
        sum[t][i] = a[t][i] + b[t][i];
      }
    }
    return sum;
  }

  private static double[] row(double[] matrix, int row, int columns) {
    return Arrays.copyOfRange(matrix, row * columns, (row + 1) * columns);
  }
}
