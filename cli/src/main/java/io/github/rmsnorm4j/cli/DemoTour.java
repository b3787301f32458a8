package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.measure.Paragraph;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * The demonstration that introductions to RMSNorm print, with every figure computed by the library
 * when it is shown.
 */
final class DemoTour {
  private static final float[] TOKEN = {
    -0.5041f, 0.8920f, -0.4989f, -1.3071f, 0.4685f, -0.1527f, 1.4497f, -0.7099f
  };
  private static final int BATCH = 2;
  private static final int SEQUENCE = 5;

  /** Changes up to here are the work of epsilon and of float32, and are called none. */
  private static final double NO_CHANGE = 1e-4;

  private final List<String> lines = new ArrayList<>();

  private DemoTour() {}

  static List<String> lines() {
    DemoTour tour = new DemoTour();
    tour.formulas();
    tour.token();
    tour.centring();
    tour.scalingAndShifting();
    tour.centredRow();
    tour.lines.add("");
    tour.lines.add("Your own numbers, step by step:  rmsnorm demo 1 2 3 4");
    return tour.lines;
  }

  private void formulas() {
    lines.add("Two ways to bring a row of numbers to a common scale:");
    lines.add("");
    lines.add("  RMSNorm    y = x / sqrt(mean(x^2) + eps) * gain");
    lines.add("  LayerNorm  y = (x - mean(x)) / sqrt(variance(x) + eps) * gain + bias");
  }

  private void token() {
    int width = TOKEN.length;
    int tokens = BATCH * SEQUENCE;
    float[] tensor = tensorThatStartsWithToken(tokens * width);
    RmsNorm rms = rmsNorm(width, RmsNorm.DEFAULT_EPSILON);
    LayerNorm layer = layerNorm(width, LayerNorm.DEFAULT_EPSILON);
    float[] inTensor = apply(rms, tensor);
    float[] alone = apply(rms, TOKEN);

    title(
        "1. A token: the first row of a (%d, %d, %d) tensor, %d tokens of width %d"
            .formatted(BATCH, SEQUENCE, width, tokens, width));
    float[] ofLayer = apply(layer, TOKEN);
    values("token", TOKEN);
    values("RMSNorm", alone);
    values("LayerNorm", ofLayer);
    lines.add("");
    headings(0);
    moments("token", "", TOKEN);
    moments("RMSNorm", "", alone);
    moments("LayerNorm", "", ofLayer);
    lines.add("");
    note(
        "After either norm the row's RMS is 1 (gain 1, bias 0, eps %s and %s, as is usual)."
            .formatted(brief(rms.epsilon()), brief(layer.epsilon())));
    note(
        "Parameters: RMSNorm %d, a gain per column; LayerNorm %d, a gain and a bias per column."
            .formatted(rms.parameterCount(), layer.parameterCount()));
    boolean same = Arrays.equals(alone, 0, width, inTensor, 0, width);
    note(
        "Tokens do not mix: alone and in the tensor this one gets %s."
            .formatted(same ? "the same bits" : "different bits, which is a bug"));
  }

  private void centring() {
    float[] x = {1, 2, 3, 4};
    title("2. [1, 2, 3, 4]: LayerNorm centres, RMSNorm does not");
    headings(x.length);
    row("x", x);
    row("RMSNorm", apply(rmsNorm(4, RmsNorm.DEFAULT_EPSILON), x));
    row("LayerNorm", apply(layerNorm(4, LayerNorm.DEFAULT_EPSILON), x));
    lines.add("");
    note("RMSNorm only rescales: the last is still four times the first, all stay positive.");
    note("LayerNorm also subtracts the mean: the smaller half becomes negative.");
  }

  private void scalingAndShifting() {
    float[] x = {1, 2, 3, 4};
    float[] scaled = {10, 20, 30, 40};
    float[] shifted = {11, 12, 13, 14};
    title("3. The same row times 10, and plus 10");
    lines.add("  " + " ".repeat(10) + " RMSNorm" + " ".repeat(29) + "LayerNorm");
    RmsNorm rms = rmsNorm(4, RmsNorm.DEFAULT_EPSILON);
    LayerNorm layer = layerNorm(4, LayerNorm.DEFAULT_EPSILON);
    sideBySide("x", apply(rms, x), apply(layer, x));
    sideBySide("10 * x", apply(rms, scaled), apply(layer, scaled));
    sideBySide("x + 10", apply(rms, shifted), apply(layer, shifted));
    lines.add("");
    lines.add("  Largest change of the output:");
    changes("times 10", change(rms, x, scaled), change(layer, x, scaled));
    changes("plus 10", change(rms, x, shifted), change(layer, x, shifted));
    note(
        "A factor changes neither output; a shift changes only that of RMSNorm. The small changes"
            + " come from eps.");
  }

  private void centredRow() {
    float[] x = {-1.5f, -0.5f, 0.5f, 1.5f};
    double epsilon = RmsNorm.DEFAULT_EPSILON;
    float[] rms = apply(rmsNorm(4, epsilon), x);
    float[] layer = apply(layerNorm(4, epsilon), x);
    title("4. A row whose mean is 0 already: the two are one");
    headings(x.length);
    row("x", x);
    row("RMSNorm", rms);
    row("LayerNorm", layer);
    lines.add("");
    lines.add(
        "  Largest difference with eps %s in both: %s."
            .formatted(brief(epsilon), brief(largestDifference(rms, layer))));
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

  private static RmsNorm rmsNorm(int width, double epsilon) {
    float[] gain = new float[width];
    Arrays.fill(gain, 1);
    return RmsNorm.builder(width).epsilon(epsilon).gain(gain).backend(Backend.scalar()).build();
  }

  private static LayerNorm layerNorm(int width, double epsilon) {
    float[] gain = new float[width];
    Arrays.fill(gain, 1);
    return LayerNorm.builder(width)
        .epsilon(epsilon)
        .gain(gain)
        .bias(new float[width])
        .backend(Backend.scalar())
        .build();
  }

  private static float[] apply(Norm norm, float[] x) {
    float[] y = new float[x.length];
    norm.apply(x, y);
    return y;
  }

  private static double change(Norm norm, float[] before, float[] after) {
    return largestDifference(apply(norm, before), apply(norm, after));
  }

  private static double largestDifference(float[] a, float[] b) {
    double largest = 0;
    for (int i = 0; i < a.length; i++) {
      largest = Math.max(largest, Math.abs((double) a[i] - b[i]));
    }
    return largest;
  }

  private void title(String title) {
    lines.add("");
    lines.add(title);
    lines.add("");
  }

  private void headings(int width) {
    lines.add(" ".repeat(12 + 8 * width) + "     RMS     mean");
  }

  private void note(String text) {
    lines.addAll(Paragraph.lines("  ", text));
  }

  private void values(String label, float[] values) {
    lines.add("  %-10s%s".formatted(label, columns(values)));
  }

  private void row(String label, float[] values) {
    moments(label, columns(values), values);
  }

  private void moments(String label, String columns, float[] values) {
    double sum = 0;
    double squares = 0;
    for (float value : values) {
      sum += value;
      squares += (double) value * value;
    }
    double rms = Math.sqrt(squares / values.length);
    lines.add(
        "  %-10s%s  %s %s".formatted(label, columns, column(rms), column(sum / values.length)));
  }

  private void sideBySide(String label, float[] left, float[] right) {
    lines.add("  %-10s%s    %s".formatted(label, columns(left), columns(right)));
  }

  private void changes(String label, double rms, double layer) {
    lines.add(
        "    %-10s RMSNorm %-22s LayerNorm %s".formatted(label, verdict(rms), verdict(layer)));
  }

  private static String verdict(double change) {
    return brief(change) + (change < NO_CHANGE ? ", unchanged" : ", changed");
  }

  private static String columns(float[] values) {
    StringBuilder columns = new StringBuilder();
    for (float value : values) {
      columns.append(column(value));
    }
    return columns.toString();
  }

  /** Four decimals in eight columns, without a minus sign before zero. */
  private static String column(double value) {
    return String.format(Locale.ROOT, "%8.4f", Math.abs(value) < 0.00005 ? 0.0 : value);
  }

  private static String brief(double value) {
    if (value == 0 || value >= 0.01) {
      return value == 0 ? "0" : String.format(Locale.ROOT, "%.2f", value);
    }
    return String.format(Locale.ROOT, "%.0e", value).replace("e-0", "e-");
  }
}
