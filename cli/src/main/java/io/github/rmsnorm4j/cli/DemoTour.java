package io.github.rmsnorm4j.cli;

import static io.github.rmsnorm4j.ElementType.FLOAT16;
import static io.github.rmsnorm4j.cli.DemoFigures.apply;
import static io.github.rmsnorm4j.cli.DemoFigures.brief;
import static io.github.rmsnorm4j.cli.DemoFigures.columns;
import static io.github.rmsnorm4j.cli.DemoFigures.largestDifference;
import static io.github.rmsnorm4j.cli.DemoFigures.norm;
import static io.github.rmsnorm4j.cli.DemoFigures.scaled;
import static io.github.rmsnorm4j.cli.DemoFigures.size;
import static io.github.rmsnorm4j.cli.DemoFigures.table;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RmsNorm;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The demonstration that introductions to RMSNorm print, in the steps of the page that {@link
 * Explain} writes. The library computes each figure when it is shown.
 */
final class DemoTour {
  private static final String TEXT =
      """
      Two ways to bring a row of numbers to a common scale:

        RMSNorm    y = x / sqrt(mean(x^2) + eps) * gain
        LayerNorm  y = (x - mean(x)) / sqrt(variance(x) + eps) * gain + bias

      1. Why a norm is needed

        Each layer multiplies a row by 1.2. Its size (RMS) at the input of layer 48:

          without a norm                  {plain}
          with RMSNorm before each layer  {normed}

      2. One row, two norms, step by step

      {row}

        RMSNorm only rescales: the last is still four times the first, and all stay
        positive. LayerNorm also subtracts the mean: the smaller half gets negative.

        On a row whose mean is 0 already, both give the same:

      {centered}

        Largest difference with eps {eps} in both: {difference}.

        A token of width 8:

      {token}

        After either norm the RMS of the row is 1 (gain 1, bias 0, eps {eps} and {eps of LayerNorm}).

      3. Shift, scale, shrink

                   RMSNorm                           LayerNorm
      {moved x}
      {moved x + 10}
      {moved 10 * x}
      {moved x / 1000}

        Largest change of the output, with eps {eps} in both:
          plus 10    {changed x + 10}
          times 10   {changed 10 * x}
          over 1000  {changed x / 1000}
        A scale changes neither; only LayerNorm ignores a shift. In a very small row
        eps counts: it is no longer small compared with the squares.

      4. Gain and bias

        Gain 1 0.5 2 1, and for LayerNorm bias 0 0 0 0.5:

      {gain}

        Parameters of width 8: RMSNorm {parameters}, a gain per column;
        LayerNorm {parameters of LayerNorm}, a gain and a bias per column.

      5. 16-bit numbers, and where to round

        A bfloat16 row of 4096 numbers drawn from a normal distribution, and a gain
        drawn from 0.5 to 1.5. A cast order says where a norm rounds to 16 bits;
        docs/variants.md has the formula of each. Elements that differ from FLOAT32's:

      {cast orders}

        A float16 row of 300s: 300^2 = 90000 becomes {square} in float16, and 1 over
        its root is 0. With wider sums inside, each element becomes {large}.

      6. Tokens do not mix

        The token above is the first row of a (2, 5, 8) tensor of 10 tokens:
        alone and in the tensor this one gets {same}.

      7. Fusion: the bytes that move

        Bytes an element that a norm reads and writes, in float32:

          naive    square 8 + mean 4 + multiply by 1 / root 8 + gain 8 = 28
          fused    read the row 4 + write the result 4                = 8

        A fused LayerNorm moves the same 8. rmsnorm compare measures the time.

      8. Where the norm sits

        Pre-Norm   h = h + layer(norm(h))    Llama, Qwen, Mistral, DeepSeek
        Post-Norm  h = norm(h + layer(h))    the Transformer of 2017

      9. Who uses which

        RMSNorm    T5, Llama, Mistral, Qwen, DeepSeek, Yi, Gemma (gain 1 + w), OLMo 2
        LayerNorm  the Transformer of 2017, BERT, GPT-2, ModernBERT (without bias)

      Your own numbers, step by step:  rmsnorm demo 1 2 3 4
      The same steps as a page to play with:  rmsnorm explain
      """;

  private static final float[] TOKEN = {
    -0.5041f, 0.8920f, -0.4989f, -1.3071f, 0.4685f, -0.1527f, 1.4497f, -0.7099f
  };
  private static final float[] ROW = {1, 2, 3, 4};

  /** Changes up to this size come from epsilon and from float32, and are called none. */
  private static final double NO_CHANGE = 1e-4;

  private static final Norm RMS = norm(NormSpec.RMSNORM, 4);
  private static final Norm LAYER =
      norm(NormSpec.LAYERNORM.withEpsilon(RmsNorm.DEFAULT_EPSILON), 4);

  private final Map<String, Object> figures = new LinkedHashMap<>();

  private DemoTour() {}

  static List<String> lines() {
    DemoTour tour = new DemoTour();
    tour.stack();
    tour.rows();
    tour.moves();
    tour.parameters();
    tour.formats();
    String text = TEXT;
    for (Map.Entry<String, Object> figure : tour.figures.entrySet()) {
      text = text.replace("{" + figure.getKey() + "}", figure.getValue().toString());
    }
    return text.lines().toList();
  }

  private void stack() {
    float[] plain = {1, -1, 1, -1};
    float[] normed = apply(RMS, plain);
    for (int layer = 1; layer < 48; layer++) {
      plain = scaled(plain, 1.2f);
      normed = apply(RMS, scaled(normed, 1.2f));
    }
    figures.put("plain", brief(size(plain)));
    figures.put("normed", brief(size(normed)));
  }

  private void rows() {
    float[] centered = {-1.5f, -0.5f, 0.5f, 1.5f};
    Norm wide = norm(NormSpec.RMSNORM, 8);
    figures.put("eps", brief(RmsNorm.DEFAULT_EPSILON));
    figures.put("eps of LayerNorm", brief(LayerNorm.DEFAULT_EPSILON));
    figures.put("row", table("x", ROW, RMS, norm(NormSpec.LAYERNORM, 4)));
    figures.put("centered", table("x", centered, RMS, LAYER));
    double difference = largestDifference(apply(RMS, centered), apply(LAYER, centered));
    figures.put("difference", brief(difference));
    figures.put("token", table("token", TOKEN, wide, norm(NormSpec.LAYERNORM, 8)));

    Random random = new Random(1);
    float[] tensor = Arrays.copyOf(TOKEN, 2 * 5 * 8);
    for (int i = 8; i < tensor.length; i++) {
      tensor[i] = (float) random.nextGaussian();
    }
    boolean same = Arrays.equals(apply(wide, TOKEN), 0, 8, apply(wide, tensor), 0, 8);
    figures.put("same", same ? "the same bits" : "different bits, which is a bug");
  }

  private void moves() {
    moved("x", ROW);
    moved("x + 10", new float[] {11, 12, 13, 14});
    moved("10 * x", scaled(ROW, 10));
    moved("x / 1000", scaled(ROW, 0.001f));
  }

  private void moved(String label, float[] row) {
    String left = columns(apply(RMS, row));
    figures.put(
        "moved " + label, "  %-10s%s  %s".formatted(label, left, columns(apply(LAYER, row))));
    figures.put(
        "changed " + label,
        "RMSNorm %-22s LayerNorm %s".formatted(change(RMS, row), change(LAYER, row)));
  }

  private static String change(Norm norm, float[] row) {
    double change = largestDifference(apply(norm, ROW), apply(norm, row));
    return brief(change) + (change < NO_CHANGE ? ", unchanged" : ", changed");
  }

  private void parameters() {
    float[] gain = {1, 0.5f, 2, 1};
    float[] bias = {0, 0, 0, 0.5f};
    Backend scalar = Backend.scalar();
    Norm rms = RmsNorm.builder(4).gain(gain).backend(scalar).build();
    Norm layer = LayerNorm.builder(4).gain(gain).bias(bias).backend(scalar).build();
    figures.put("gain", table("x", ROW, rms, layer));
    figures.put("parameters", RmsNorm.builder(8).gain(TOKEN).build().parameterCount());
    figures.put(
        "parameters of LayerNorm",
        LayerNorm.builder(8).gain(TOKEN).bias(TOKEN).build().parameterCount());
  }

  private void formats() {
    StringBuilder orders = new StringBuilder();
    for (CastOrder order : CastOrder.values()) {
      if (order != CastOrder.FLOAT32) {
        orders.append("%n    %-12s %4s".formatted(order, DemoFigures.differing(order)));
      }
    }
    figures.put("cast orders", orders.substring(System.lineSeparator().length()));
    figures.put("square", FLOAT16.round(300 * 300));
    figures.put("large", brief(DemoFigures.normed(FLOAT16, 300)));
  }
}
