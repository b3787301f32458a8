package io.github.rmsnorm4j.cli;

import static io.github.rmsnorm4j.cli.DemoTable.brief;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RmsNorm;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * The demonstration that introductions to RMSNorm print, in the steps of the page that {@link
 * Explain} writes. The library computes each figure when it is shown.
 */
final class DemoTour {
  private static final float[] TOKEN = {
    -0.5041f, 0.8920f, -0.4989f, -1.3071f, 0.4685f, -0.1527f, 1.4497f, -0.7099f
  };
  private static final float[] ROW = {1, 2, 3, 4};
  private static final float[] CENTRED = {-1.5f, -0.5f, 0.5f, 1.5f};
  private static final int BATCH = 2;
  private static final int SEQUENCE = 5;
  private static final int LAYERS = 48;
  private static final float FACTOR = 1.2f;

  /** Changes up to this size come from epsilon and from float32, and are called none. */
  private static final double NO_CHANGE = 1e-4;

  private final DemoTable out = new DemoTable();

  private DemoTour() {}

  static List<String> lines() {
    DemoTour tour = new DemoTour();
    tour.formulas();
    tour.why();
    tour.row();
    tour.moves();
    tour.gain();
    DemoFormats.show(tour.out);
    tour.block();
    tour.bytes();
    tour.place();
    tour.who();
    tour.out.space();
    tour.out.lines.add("Your own numbers, step by step:  rmsnorm demo 1 2 3 4");
    tour.out.lines.add("The same steps as a page to play with:  rmsnorm explain");
    return tour.out.lines;
  }

  private void formulas() {
    out.lines.add("Two ways to bring a row of numbers to a common scale:");
    out.space();
    out.text(
        "RMSNorm    y = x / sqrt(mean(x^2) + eps) * gain",
        "LayerNorm  y = (x - mean(x)) / sqrt(variance(x) + eps) * gain + bias");
  }

  private void why() {
    out.section("Why a norm is needed");
    Norm norm = norm(NormSpec.RMSNORM, ROW.length);
    float[] plain = {1, -1, 1, -1};
    float[] normed = apply(norm, plain);
    for (int layer = 1; layer < LAYERS; layer++) {
      plain = scaled(plain, FACTOR);
      normed = apply(norm, scaled(normed, FACTOR));
    }
    out.text(
        "Each layer multiplies a row by %s. Its size (RMS) at the input of layer %s:"
            .formatted(FACTOR, LAYERS),
        "",
        "  %-32s%s".formatted("without a norm", brief(DemoTable.size(plain))),
        "  %-32s%s".formatted("with RMSNorm before each layer", brief(DemoTable.size(normed))));
  }

  private void row() {
    Norm rms = norm(NormSpec.RMSNORM, 4);
    Norm layer = norm(NormSpec.LAYERNORM, 4);
    out.section("One row, two norms, step by step");
    out.rows("x", ROW, apply(rms, ROW), apply(layer, ROW));
    out.space();
    out.text(
        "RMSNorm only rescales: the last is still four times the first, and all stay",
        "positive. LayerNorm also subtracts the mean: the smaller half gets negative.",
        "",
        "On a row whose mean is 0 already, both give the same:",
        "");
    Norm sameEpsilon = norm(NormSpec.LAYERNORM.withEpsilon(RmsNorm.DEFAULT_EPSILON), 4);
    float[] left = apply(rms, CENTRED);
    float[] right = apply(sameEpsilon, CENTRED);
    out.rows("x", CENTRED, left, right);
    out.space();
    out.text(
        "Largest difference with eps %s in both: %s."
            .formatted(brief(RmsNorm.DEFAULT_EPSILON), brief(largestDifference(left, right))),
        "",
        "A token of width %s:".formatted(TOKEN.length),
        "");
    Norm wide = norm(NormSpec.RMSNORM, TOKEN.length);
    Norm wideLayer = norm(NormSpec.LAYERNORM, TOKEN.length);
    out.rows("token", TOKEN, apply(wide, TOKEN), apply(wideLayer, TOKEN));
    out.space();
    out.text(
        "After either norm the RMS of the row is 1 (gain 1, bias 0, eps %s and %s)."
            .formatted(brief(RmsNorm.DEFAULT_EPSILON), brief(LayerNorm.DEFAULT_EPSILON)));
  }

  private void moves() {
    float[] shifted = {11, 12, 13, 14};
    float[] scaled = scaled(ROW, 10);
    float[] shrunk = scaled(ROW, 0.001f);
    out.section("Shift, scale, shrink");
    out.text(" ".repeat(10) + " RMSNorm" + " ".repeat(27) + "LayerNorm");
    Norm rms = norm(NormSpec.RMSNORM, 4);
    Norm layer = norm(NormSpec.LAYERNORM.withEpsilon(RmsNorm.DEFAULT_EPSILON), 4);
    out.sideBySide("x", apply(rms, ROW), apply(layer, ROW));
    out.sideBySide("x + 10", apply(rms, shifted), apply(layer, shifted));
    out.sideBySide("10 * x", apply(rms, scaled), apply(layer, scaled));
    out.sideBySide("x / 1000", apply(rms, shrunk), apply(layer, shrunk));
    out.space();
    out.text(
        "Largest change of the output, with eps %s in both:"
            .formatted(brief(RmsNorm.DEFAULT_EPSILON)));
    changes("plus 10", shifted, rms, layer);
    changes("times 10", scaled, rms, layer);
    changes("over 1000", shrunk, rms, layer);
    out.text(
        "A scale changes neither; only LayerNorm ignores a shift. In a very small row",
        "eps counts: it is no longer small compared with the squares.");
  }

  private void changes(String label, float[] row, Norm rms, Norm layer) {
    out.text(
        "  %-10s RMSNorm %-22s LayerNorm %s"
            .formatted(label, verdict(rms, row), verdict(layer, row)));
  }

  private static String verdict(Norm norm, float[] row) {
    double change = largestDifference(apply(norm, ROW), apply(norm, row));
    return brief(change) + (change < NO_CHANGE ? ", unchanged" : ", changed");
  }

  private void gain() {
    float[] gain = {1, 0.5f, 2, 1};
    float[] bias = {0, 0, 0, 0.5f};
    RmsNorm rms = RmsNorm.builder(4).gain(gain).backend(Backend.scalar()).build();
    LayerNorm layer = LayerNorm.builder(4).gain(gain).bias(bias).backend(Backend.scalar()).build();
    out.section("Gain and bias");
    out.text("Gain 1 0.5 2 1, and for LayerNorm bias 0 0 0 0.5:", "");
    out.rows("x", ROW, apply(rms, ROW), apply(layer, ROW));
    out.space();
    RmsNorm withGain = RmsNorm.builder(8).gain(TOKEN).backend(Backend.scalar()).build();
    LayerNorm withBias =
        LayerNorm.builder(8).gain(TOKEN).bias(TOKEN).backend(Backend.scalar()).build();
    out.text(
        "Parameters of width 8: RMSNorm %s, a gain per column;"
            .formatted(withGain.parameterCount()),
        "LayerNorm %s, a gain and a bias per column.".formatted(withBias.parameterCount()));
  }

  private void block() {
    int width = TOKEN.length;
    int tokens = BATCH * SEQUENCE;
    float[] tensor = tensorThatStartsWithToken(tokens * width);
    Norm norm = norm(NormSpec.RMSNORM, width);
    boolean same = Arrays.equals(apply(norm, TOKEN), 0, width, apply(norm, tensor), 0, width);
    out.section("Tokens do not mix");
    out.text(
        "The token above is the first row of a (%s, %s, %s) tensor of %s tokens:"
            .formatted(BATCH, SEQUENCE, width, tokens),
        "alone and in the tensor this one gets %s."
            .formatted(same ? "the same bits" : "different bits, which is a bug"));
  }

  private void bytes() {
    out.section("Fusion: the bytes that move");
    out.text(
        "Bytes an element that a norm reads and writes, in float32:",
        "",
        "  naive    square 8 + mean 4 + multiply by 1 / root 8 + gain 8 = 28",
        "  fused    read the row 4 + write the result 4                = 8",
        "",
        "A fused LayerNorm moves the same 8. rmsnorm compare measures the time.");
  }

  private void place() {
    out.section("Where the norm sits");
    out.text(
        "Pre-Norm   h = h + layer(norm(h))    Llama, Qwen, Mistral, DeepSeek",
        "Post-Norm  h = norm(h + layer(h))    the Transformer of 2017");
  }

  private void who() {
    out.section("Who uses which");
    out.text(
        "RMSNorm    T5, Llama, Mistral, Qwen, DeepSeek, Yi, Gemma (gain 1 + w), OLMo 2",
        "LayerNorm  the Transformer of 2017, BERT, GPT-2, ModernBERT (without bias)");
  }

  private static float[] tensorThatStartsWithToken(int elements) {
    Random random = new Random(1);
    float[] tensor = new float[elements];
    for (int i = 0; i < elements; i++) {
      tensor[i] = i < TOKEN.length ? TOKEN[i] : (float) random.nextGaussian();
    }
    return tensor;
  }

  // Plain Java: for so few numbers it answers before the code for vectors is loaded.

  private static Norm norm(NormSpec spec, int width) {
    return spec.builder(width).backend(Backend.scalar()).build();
  }

  private static float[] apply(Norm norm, float[] x) {
    float[] y = new float[x.length];
    norm.apply(x, y);
    return y;
  }

  private static float[] scaled(float[] row, float by) {
    float[] scaled = new float[row.length];
    for (int i = 0; i < row.length; i++) {
      scaled[i] = row[i] * by;
    }
    return scaled;
  }

  private static double largestDifference(float[] a, float[] b) {
    double largest = 0;
    for (int i = 0; i < a.length; i++) {
      largest = Math.max(largest, Math.abs((double) a[i] - b[i]));
    }
    return largest;
  }
}
