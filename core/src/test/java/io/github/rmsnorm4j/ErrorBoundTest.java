package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.reference.Definitions;
import java.lang.foreign.Arena;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No element is farther from the exact answer than the contract allows; the worst is printed. */
class ErrorBoundTest {
  private static final int[] WIDTHS = {1, 2, 3, 31, 65, 300};
  private static final double[] EPSILONS = {0.0, 1e-12, 1e-5};
  private static final double[] MEANS_IN_SIZES = {0, 1, 1e3, 1e6};

  /** The largest error seen, in units of what the contract allows. */
  private static final class Worst {
    private double worst;
    private String where = "";

    void see(double error, double allowed, String what) {
      double ratio = error == 0.0 ? 0.0 : error / allowed;
      if (!(ratio <= worst)) {
        worst = ratio;
        where = what;
      }
    }

    void isBelowOne(String what) {
      System.out.printf("%s: at worst %.3f of the bound (%s)%n", what, worst, where);
      assertThat(worst).as(what + ": " + where).isLessThan(1.0);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void float32AcrossAllScales(boolean centred) {
    Map<ElementType, Worst> worst = new EnumMap<>(ElementType.class);
    for (ElementType out : ElementType.values()) {
      worst.put(out, new Worst());
    }
    for (double size : new double[] {1e-40, 1e-37, 1e-30, 1e-20, 1e-3, 1, 1e3, 1e19, 1e30, 1e38}) {
      for (double mean : centred ? MEANS_IN_SIZES : new double[] {0}) {
        if (size * (mean + 1) < Float.MAX_VALUE) {
          see(worst, centred, FLOAT32, size, mean);
        }
      }
    }
    String norm = centred ? "LayerNorm" : "RMSNorm";
    worst.forEach((out, w) -> w.isBelowOne(norm + " float32 to " + out));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void float64AcrossAllScales(boolean centred) {
    Worst worst = new Worst();
    for (double size : new double[] {1e-320, 1e-300, 1e-150, 1, 1e150, 1e300, 1e308}) {
      for (double mean : centred ? MEANS_IN_SIZES : new double[] {0}) {
        if (Double.isFinite(size * (mean + 1))) {
          see(Map.of(FLOAT64, worst), centred, FLOAT64, size, mean);
        }
      }
    }
    worst.isBelowOne((centred ? "LayerNorm" : "RMSNorm") + " float64");
  }

  private static void see(
      Map<ElementType, Worst> worst, boolean centred, ElementType in, double size, double mean) {
    for (int width : WIDTHS) {
      RandomRows source = new RandomRows(new SplittableRandom(width));
      double[] x = source.scaled(in, width, size, size * mean);
      double[] gain = source.scaled(FLOAT32, width, 2, 0);
      double[] bias = source.scaled(FLOAT32, width, 1, 0);
      for (double epsilon : EPSILONS) {
        boolean none = epsilon == 0 && Arrays.stream(x).allMatch(v -> v == (centred ? x[0] : 0));
        if (!none) {
          String what = "width %d, size %g, mean %g sizes, eps %g";
          what = what.formatted(width, size, mean, epsilon);
          see(worst, centred, in, epsilon, x, null, null, what);
          see(worst, centred, in, epsilon, x, gain, null, what + ", gain");
          see(worst, centred, in, epsilon, x, gain, bias, what + ", gain and bias");
        }
      }
    }
  }

  private static void see(
      Map<ElementType, Worst> worst,
      boolean centred,
      ElementType in,
      double epsilon,
      double[] x,
      double[] gain,
      double[] bias,
      String what) {
    Exact exact = new Exact(centred, x, epsilon, gain, bias);
    double[] bound = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      double g = gain == null ? 1 : gain[i];
      bound[i] = bound(centred, in, exact, x, i, g, bias == null ? 0 : bias[i]);
    }
    worst.forEach(
        (out, w) -> {
          double[] y = run(centred, in, out, epsilon, x, gain, bias);
          for (int i = 0; i < x.length; i++) {
            double allowed = bound[i];
            if (out.bytes() < 4) {
              allowed += Rounding.half(out, Math.abs(exact.y[i].doubleValue()) + allowed);
            }
            w.see(exact.error(i, y[i]), allowed, what + ", element " + i);
          }
        });
  }

  /** The bound of docs/numerics.md; for float64 the same with its units, and for the statistic. */
  static double bound(
      boolean centred, ElementType in, Exact exact, double[] x, int i, double g, double b) {
    double unit = in == FLOAT64 ? 0x1p-53 : 0x1p-24;
    double least = in == FLOAT64 ? 0x1p-1072 : 0x1p-149; // Doubles count no finer than 2^-1074.
    double roundings = (centred ? layerNormRoundings(x.length) : 3.01) + (b == 0 ? 0 : 1);
    if (in == FLOAT64) {
      // The statistic has the unit of the result; from an outlier x0 its variance loses digits.
      double outlier = times(exact.d[0], exact.rstd);
      roundings += 5 + (centred ? 2 * outlier * outlier : 0);
    }
    double scaled = Math.abs(times(exact.d[i], exact.rstd) * g);
    double allowed = roundings * unit * (scaled + Math.abs(b)) + least * (1 + Math.abs(g));
    if (centred) {
      double largest = Arrays.stream(x).map(Math::abs).max().orElseThrow();
      allowed += meanError(x.length) * times(new BigDecimal(largest), exact.rstd) * Math.abs(g);
      allowed += times(new BigDecimal(least), exact.rstd) / 2 * Math.abs(g);
    }
    return allowed;
  }

  /** R of a LayerNorm without bias. */
  static double layerNormRoundings(int width) {
    return width > 1 << 15 && width <= 1 << 20 ? 5.35 : 5.01;
  }

  /** The error of the mean, in units of the largest element. */
  static double meanError(int width) {
    return width <= 1024 ? 0x1p-46 : (235 + width / 32768.0) * 0x1p-53;
  }

  private static double times(BigDecimal a, BigDecimal b) {
    return a.multiply(b).doubleValue();
  }

  private static double[] run(
      boolean centred,
      ElementType in,
      ElementType out,
      double epsilon,
      double[] x,
      double[] gain,
      double[] bias) {
    NormBuilder<?> builder = centred ? LayerNorm.builder(x.length) : RmsNorm.builder(x.length);
    builder.epsilon(epsilon);
    if (gain != null) {
      builder.gain(gain);
    }
    if (bias != null) {
      builder.bias(bias);
    }
    Norm norm =
        centred ? ((LayerNorm.Builder) builder).build() : ((RmsNorm.Builder) builder).build();
    try (Arena arena = Arena.ofConfined()) {
      Block from = new Block(arena, Place.ARRAY, in, 1, x.length, x.length);
      Block to = new Block(arena, Place.ARRAY, out, 1, x.length, x.length);
      from.put(0, x);
      norm.apply(from.rows, to.rows);
      return to.values(0);
    }
  }

  /** Wider rows than decimals have time for, where plain double code is still right enough. */
  @ParameterizedTest
  @ValueSource(ints = {4096, 65537, 200003})
  void wideRowsAgainstTheDefinitions(int width) {
    for (boolean centred : new boolean[] {false, true}) {
      Worst worst = new Worst();
      for (double size : new double[] {1e-40, 1e-30, 1e-3, 1, 1e20, 1e38}) {
        RandomRows source = new RandomRows(new SplittableRandom(width));
        double[] x = source.scaled(FLOAT32, width, size, size / 2);
        double[] g = source.scaled(FLOAT32, width, 2, 0);
        double[] b = source.scaled(FLOAT32, width, 1, 0);
        double[] exact =
            centred ? Definitions.layerNorm(x, g, b, 0) : Definitions.rmsNorm(x, g, b, 0);
        double[] y = run(centred, FLOAT32, FLOAT32, 0, x, g, b);
        for (int i = 0; i < width; i++) {
          double parts = Math.abs(exact[i] - b[i]) + Math.abs(b[i]);
          double roundings = centred ? layerNormRoundings(width) + 1 : 4.01;
          double allowed = roundings * 0x1p-24 * parts + 0x1p-45;
          worst.see(Math.abs(y[i] - exact[i]), allowed, "size " + size + ", element " + i);
        }
      }
      worst.isBelowOne((centred ? "LayerNorm" : "RMSNorm") + " width " + width);
    }
  }

  /** Where the mean is cancelled, lies under float32's numbers, or comes from an outlier. */
  static Stream<double[]> difficultMeans() {
    double[] outlier = new double[4096];
    Arrays.setAll(outlier, i -> i == 0 ? (float) 3e38 : (float) Math.sin(i));
    double[] outlierAndMean = outlier.clone();
    outlierAndMean[7] = outlier[0] / 4096;
    double[] alternating = new double[1025];
    Arrays.setAll(alternating, i -> i % 2 == 0 ? 1000 : -1000);
    alternating[77] = 1e-20f;
    return Stream.of(
        new double[] {1, -1, 1e-30f},
        new double[] {3e38f, -3e38f, 1},
        new double[] {0x1p-127, 0x1.2p-127, 0x1p-149, 0},
        new double[] {0x1p-126, 0x1p-149, 0x3p-149},
        new double[] {-3e38f, 3e38f, 3e38f, 3e38f},
        new double[] {16777216, 16777215, 16777214},
        outlier,
        outlierAndMean,
        alternating);
  }

  @ParameterizedTest
  @MethodSource("difficultMeans")
  void layerNormOfDifficultMeans(double[] x) {
    Worst worst = new Worst();
    for (double epsilon : new double[] {0, 1e-76, 1e-12, 1e-5}) {
      see(Map.of(FLOAT32, worst), true, FLOAT32, epsilon, x, null, null, "eps " + epsilon);
      see(Map.of(FLOAT64, worst), true, FLOAT64, epsilon, x, null, null, "eps " + epsilon);
    }
    worst.isBelowOne("LayerNorm of " + x[0] + ", " + x[1] + ", " + x[2] + ", ...");
  }
}
