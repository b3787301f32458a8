package io.github.rmsnorm4j.cli;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Figures of the demonstration, by the library in plain Java: for so few numbers that answers
 * before the code for vectors is loaded.
 */
final class DemoFigures {
  private static final int WIDE = 4096;

  private DemoFigures() {}

  static Norm norm(NormSpec spec, int width) {
    return spec.builder(width).backend(Backend.scalar()).build();
  }

  static float[] apply(Norm norm, float[] x) {
    float[] y = new float[x.length];
    norm.apply(x, y);
    return y;
  }

  static float[] scaled(float[] row, float by) {
    float[] scaled = row.clone();
    for (int i = 0; i < row.length; i++) {
      scaled[i] *= by;
    }
    return scaled;
  }

  static double largestDifference(float[] a, float[] b) {
    return IntStream.range(0, a.length)
        .mapToDouble(i -> Math.abs((double) a[i] - b[i]))
        .max()
        .orElseThrow();
  }

  private static DoubleStream values(float[] row) {
    return IntStream.range(0, row.length).mapToDouble(i -> row[i]);
  }

  /** The root mean square. */
  static double size(float[] row) {
    return Math.sqrt(values(row).map(x -> x * x).average().orElseThrow());
  }

  /** The elements that a cast order makes otherwise than float32, of one bfloat16 row. */
  static long differing(CastOrder order) {
    short[] x = new short[WIDE];
    short[] gain = new short[WIDE];
    Random random = new Random(1);
    for (int i = 0; i < WIDE; i++) {
      BFLOAT16.set(MemorySegment.ofArray(x), i, random.nextGaussian());
      BFLOAT16.set(MemorySegment.ofArray(gain), i, 0.5f + random.nextFloat());
    }
    short[] y = output(order, x, gain);
    short[] float32 = output(CastOrder.FLOAT32, x, gain);
    return IntStream.range(0, WIDE).filter(i -> y[i] != float32[i]).count();
  }

  private static short[] output(CastOrder order, short[] x, short[] gain) {
    short[] y = new short[WIDE];
    RmsNorm.Builder norm = RmsNorm.builder(WIDE).castOrder(order).backend(Backend.scalar());
    norm.gain(Rows.of(gain, BFLOAT16, WIDE))
        .build()
        .apply(Rows.of(x, BFLOAT16, WIDE), Rows.of(y, BFLOAT16, WIDE));
    return y;
  }

  /** What RMSNorm makes of a row of one 16-bit number. */
  static double normed(ElementType type, double number) {
    short[] row = new short[1];
    type.set(MemorySegment.ofArray(row), 0, number);
    norm(NormSpec.RMSNORM, 1).apply(Rows.of(row, type, 1), Rows.of(row, type, 1));
    return type.get(MemorySegment.ofArray(row), 0);
  }

  /** A row and what two norms make of it, with the RMS and the mean of each. */
  static String table(String label, float[] x, Norm rms, Norm layer) {
    boolean narrow = x.length <= 4;
    String heading = " ".repeat(narrow ? 12 + 8 * x.length : 10) + "     RMS     mean";
    StringBuilder rows = new StringBuilder();
    StringBuilder measures = new StringBuilder(heading);
    Map<String, float[]> outputs = new LinkedHashMap<>();
    outputs.put(label, x);
    outputs.put("RMSNorm", apply(rms, x));
    outputs.put("LayerNorm", apply(layer, x));
    outputs.forEach(
        (name, row) -> {
          String measured = column(size(row)) + " " + column(values(row).average().orElseThrow());
          rows.append("\n  %-10s%s".formatted(name, columns(row)));
          rows.append(narrow ? "  " + measured : "");
          measures.append("\n  %-10s%s".formatted(name, measured));
        });
    return narrow ? heading + rows : rows.substring(1) + "\n\n" + measures;
  }

  static String columns(float[] row) {
    return values(row).mapToObj(DemoFigures::column).collect(Collectors.joining());
  }

  /** Four decimals in eight columns, without a minus sign before zero. */
  private static String column(double value) {
    return String.format(Locale.ROOT, "%8.4f", Math.abs(value) < 0.00005 ? 0.0 : value);
  }

  /** In a sentence: two decimals, or one digit and a power of ten. */
  static String brief(double value) {
    if (value == 0 || value >= 0.01) {
      return value == 0 ? "0" : String.format(Locale.ROOT, "%.2f", value);
    }
    return String.format(Locale.ROOT, "%.0e", value).replace("e-0", "e-");
  }
}
