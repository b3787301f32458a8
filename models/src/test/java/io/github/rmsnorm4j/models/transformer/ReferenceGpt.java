package io.github.rmsnorm4j.models.transformer;

import java.util.Map;
import java.util.function.DoubleUnaryOperator;

/**
 * GPT-2 and GPT-NeoX in plain float64 loops, on tensors as files have them. Nothing of it is the
 * library's.
 *
 * @param tensors by their names in the file, without a prefix
 * @param neox whether it is GPT-NeoX
 * @param rms whether its norms are RMSNorms
 * @param parallel whether attention and MLP see the same input
 * @param tied whether the head is the embedding
 * @param width d
 * @param layers how many blocks
 * @param heads H
 * @param rotated elements of a head that are rotated
 * @param theta base of the rotation
 * @param epsilon of every norm
 * @param activation of the MLP
 */
record ReferenceGpt(
    Map<String, double[]> tensors,
    boolean neox,
    boolean rms,
    boolean parallel,
    boolean tied,
    int width,
    int layers,
    int heads,
    int rotated,
    double theta,
    double epsilon,
    DoubleUnaryOperator activation) {

  double[][] logits(int[] tokens) {
    double[][] x = new double[tokens.length][width];
    for (int t = 0; t < tokens.length; t++) {
      for (int i = 0; i < width; i++) {
        x[t][i] = tensors.get(neox ? "embed_in.weight" : "wte.weight")[tokens[t] * width + i];
        x[t][i] += neox ? 0 : tensors.get("wpe.weight")[t * width + i];
      }
    }
    for (int layer = 0; layer < layers; layer++) {
      x = neox ? neoxBlock(x, "layers." + layer + ".") : gpt2Block(x, "h." + layer + ".");
    }
    String embedding = neox ? "embed_in" : "wte";
    String head = neox ? "embed_out" : "lm_head";
    return linear(norm(x, neox ? "final_layer_norm" : "ln_f"), tied ? embedding : head);
  }

  private double[][] gpt2Block(double[][] x, String at) {
    double[][] qkv = conv1d(norm(x, at + "ln_1"), at + "attn.c_attn");
    double[][][] parts = new double[3][x.length][width];
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < 3 * width; i++) {
        parts[i / width][t][i % width] = qkv[t][i];
      }
    }
    double[][] y = sum(x, conv1d(attention(parts), at + "attn.c_proj"));
    return sum(
        y, conv1d(activated(conv1d(norm(y, at + "ln_2"), at + "mlp.c_fc")), at + "mlp.c_proj"));
  }

  private double[][] neoxBlock(double[][] x, String at) {
    double[][] qkv = linear(norm(x, at + "input_layernorm"), at + "attention.query_key_value");
    int h = width / heads;
    double[][][] parts = new double[3][x.length][width];
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < 3 * width; i++) {
        int head = i / (3 * h);
        parts[i / h % 3][t][head * h + i % h] = qkv[t][i];
      }
    }
    rotate(parts[0]);
    rotate(parts[1]);
    double[][] y = sum(x, linear(attention(parts), at + "attention.dense"));
    double[][] normed = norm(parallel ? x : y, at + "post_attention_layernorm");
    return sum(
        y, linear(activated(linear(normed, at + "mlp.dense_h_to_4h")), at + "mlp.dense_4h_to_h"));
  }

  private void rotate(double[][] x) {
    int h = width / heads;
    for (int t = 0; t < x.length; t++) {
      for (int first = 0; first < width; first += h) {
        for (int i = 0; i < rotated / 2; i++) {
          double angle = t / Math.pow(theta, 2.0 * i / rotated);
          double a = x[t][first + i];
          double b = x[t][first + i + rotated / 2];
          x[t][first + i] = a * Math.cos(angle) - b * Math.sin(angle);
          x[t][first + i + rotated / 2] = a * Math.sin(angle) + b * Math.cos(angle);
        }
      }
    }
  }

  private double[][] attention(double[][][] parts) {
    int h = width / heads;
    double[][] context = new double[parts[0].length][width];
    for (int t = 0; t < context.length; t++) {
      for (int first = 0; first < width; first += h) {
        double[] weight = new double[t + 1];
        double total = 0;
        for (int s = 0; s <= t; s++) {
          for (int i = first; i < first + h; i++) {
            weight[s] += parts[0][t][i] * parts[1][s][i] / Math.sqrt(h);
          }
          weight[s] = Math.exp(weight[s]);
          total += weight[s];
        }
        for (int s = 0; s <= t; s++) {
          for (int i = first; i < first + h; i++) {
            context[t][i] += weight[s] / total * parts[2][s][i];
          }
        }
      }
    }
    return context;
  }

  private double[][] activated(double[][] x) {
    double[][] y = new double[x.length][x[0].length];
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < x[t].length; i++) {
        y[t][i] = activation.applyAsDouble(x[t][i]);
      }
    }
    return y;
  }

  private double[][] norm(double[][] x, String name) {
    double[][] y = new double[x.length][width];
    for (int t = 0; t < x.length; t++) {
      double mean = 0;
      for (int i = 0; !rms && i < width; i++) {
        mean += x[t][i] / width;
      }
      double square = 0;
      for (int i = 0; i < width; i++) {
        square += (x[t][i] - mean) * (x[t][i] - mean) / width;
      }
      for (int i = 0; i < width; i++) {
        y[t][i] = (x[t][i] - mean) / Math.sqrt(square + epsilon) * tensors.get(name + ".weight")[i];
        y[t][i] += tensors.get(name + ".bias")[i];
      }
    }
    return y;
  }

  /** A weight of (outputs, inputs). */
  private double[][] linear(double[][] x, String name) {
    double[] weight = tensors.get(name + ".weight");
    int inputs = x[0].length;
    double[][] y = withBias(x.length, weight.length / inputs, tensors.get(name + ".bias"));
    for (int t = 0; t < x.length; t++) {
      for (int j = 0; j < y[t].length; j++) {
        for (int i = 0; i < inputs; i++) {
          y[t][j] += x[t][i] * weight[j * inputs + i];
        }
      }
    }
    return y;
  }

  /** A weight of (inputs, outputs). */
  private double[][] conv1d(double[][] x, String name) {
    double[] weight = tensors.get(name + ".weight");
    int outputs = weight.length / x[0].length;
    double[][] y = withBias(x.length, outputs, tensors.get(name + ".bias"));
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < x[t].length; i++) {
        for (int j = 0; j < outputs; j++) {
          y[t][j] += x[t][i] * weight[i * outputs + j];
        }
      }
    }
    return y;
  }

  private static double[][] withBias(int rows, int columns, double[] bias) {
    double[][] y = new double[rows][columns];
    for (int t = 0; bias != null && t < rows; t++) {
      y[t] = bias.clone();
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
}
