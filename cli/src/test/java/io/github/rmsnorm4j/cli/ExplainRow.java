package io.github.rmsnorm4j.cli;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.cli.testing.PageBits;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;

/**
 * One row for the page's arithmetic and for the library. Its numbers are patterns of its type.
 *
 * @param order null for LayerNorm
 * @param gain null for none, as is the bias
 */
record ExplainRow(
    CastOrder order,
    ElementType type,
    int[] x,
    double epsilon,
    ElementType gainType,
    int[] gain,
    int[] bias) {
  /** The orders that the page shows; the library has more. */
  static final CastOrder[] ORDERS = {
    CastOrder.FLOAT32, CastOrder.LLAMA, CastOrder.T5, CastOrder.ONNX
  };

  private static final double[] EPSILONS = {0, 1e-8, 0x1p-23, 1e-6, 1e-5, 1e-3, 0.1};
  private static final ElementType[] TYPES = {
    ElementType.FLOAT32, ElementType.BFLOAT16, ElementType.FLOAT16
  };
  private static final double[] SPECIAL = {
    0.0,
    -0.0,
    Double.NaN,
    Double.POSITIVE_INFINITY,
    Double.NEGATIVE_INFINITY,
    0x1p-149,
    -0x1p-149,
    0x1p-126,
    0x1p-24,
    Float.MAX_VALUE,
    -Float.MAX_VALUE,
    65504,
    65536,
    255.875,
    256,
    300
  };

  /** What a norm answers: the output, each row's mean and rstd. */
  record Answer(double[] y, double mean, double rstd) {}

  static ExplainRow random(SplittableRandom random) {
    int width = random.nextInt(8) == 0 ? random.nextInt(1000, 3000) : random.nextInt(1, 140);
    CastOrder order = random.nextInt(3) == 0 ? null : any(random, ORDERS);
    ElementType type = any(random, TYPES);
    ElementType gainType = any(random, TYPES);
    boolean biasAllowed = order == null || order == CastOrder.FLOAT32;
    return new ExplainRow(
        order,
        type,
        numbers(random, type, width),
        EPSILONS[random.nextInt(EPSILONS.length)],
        gainType,
        random.nextInt(4) == 0 ? null : numbers(random, gainType, width),
        biasAllowed && random.nextBoolean() ? numbers(random, ElementType.FLOAT32, width) : null);
  }

  /** A row of an order, without a bias, of values that their types hold exactly. */
  static ExplainRow of(
      CastOrder order,
      ElementType type,
      double[] x,
      double epsilon,
      ElementType gainType,
      double[] gain) {
    int[] patterns = DoubleStream.of(x).mapToInt(value -> pattern(type, value)).toArray();
    int[] gains = DoubleStream.of(gain).mapToInt(value -> pattern(gainType, value)).toArray();
    return new ExplainRow(order, type, patterns, epsilon, gainType, gains, null);
  }

  private static <T> T any(SplittableRandom random, T[] of) {
    return of[random.nextInt(of.length)];
  }

  /** Patterns of numbers of one size around a mean, of any numbers, or with special ones. */
  private static int[] numbers(SplittableRandom random, ElementType type, int width) {
    int kind = random.nextInt(8);
    double size = Math.pow(10, random.nextDouble(-4, 4));
    double mean = random.nextBoolean() ? 0 : size * random.nextDouble(-2000, 2000);
    int[] patterns = new int[width];
    for (int i = 0; i < width; i++) {
      patterns[i] =
          kind == 0
              ? random.nextInt() >>> 32 - 8 * type.bytes()
              : pattern(type, kind == 1 ? mean : mean + size * random.nextDouble(-1, 1));
      if (kind == 2 && random.nextInt(4) == 0) {
        patterns[i] = pattern(type, SPECIAL[random.nextInt(SPECIAL.length)]);
      }
    }
    return patterns;
  }

  /** Of a number near the value; which one does not matter here. */
  private static int pattern(ElementType type, double value) {
    int bits = Float.floatToIntBits((float) value);
    return switch (type) {
      case FLOAT32 -> bits;
      case BFLOAT16 -> bits >>> 16;
      case FLOAT16 -> Float.floatToFloat16((float) value) & 0xffff;
      case FLOAT64 -> throw new IllegalArgumentException("float64");
    };
  }

  static double value(ElementType type, int pattern) {
    return switch (type) {
      case FLOAT32 -> Float.intBitsToFloat(pattern);
      case BFLOAT16 -> Float.intBitsToFloat(pattern << 16);
      case FLOAT16 -> Float.float16ToFloat((short) pattern);
      case FLOAT64 -> throw new IllegalArgumentException("float64");
    };
  }

  private static double[] values(ElementType type, int[] patterns) {
    double[] values = new double[patterns.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = value(type, patterns[i]);
    }
    return values;
  }

  double[] xValues() {
    return values(type, x);
  }

  /** What the page's arithmetic is called with. */
  Map<String, Object> forPage() {
    return Map.of(
        "norm",
        order == null ? "layerNorm" : "rmsNorm",
        "order",
        order == null ? "FLOAT32" : order.name(),
        "type",
        type.toString(),
        "x",
        PageBits.text(xValues()),
        "epsilon",
        epsilon,
        "gainType",
        gainType.toString(),
        "gain",
        gain == null ? "" : PageBits.text(values(gainType, gain)),
        "bias",
        bias == null ? "" : PageBits.text(values(ElementType.FLOAT32, bias)));
  }

  /** The library's. */
  Answer answer() {
    return answer(gain, bias);
  }

  /** The library's without gain and bias: the normalised row. */
  double[] normalised() {
    return answer(null, null).y();
  }

  private Answer answer(int[] gain, int[] bias) {
    MemorySegment y = Arena.ofAuto().allocate((long) type.bytes() * x.length, 4);
    Rows out = Rows.of(y, type, 1, x.length);
    double[] mean = new double[1];
    double[] rstd = new double[1];
    if (order == null) {
      LayerNorm.Builder builder = LayerNorm.builder(x.length);
      choose(builder, gain, bias);
      builder.build().apply(rows(type, x), out, mean, rstd);
    } else {
      RmsNorm.Builder builder = RmsNorm.builder(x.length).castOrder(order);
      choose(builder, gain, bias);
      builder.build().apply(rows(type, x), out, rstd);
    }
    return new Answer(values(type, patterns(type, y)), mean[0], rstd[0]);
  }

  private void choose(NormBuilder<?> builder, int[] gain, int[] bias) {
    builder.epsilon(epsilon).backend(Backend.scalar());
    if (gain != null) {
      builder.gain(rows(gainType, gain));
    }
    if (bias != null) {
      builder.bias(rows(ElementType.FLOAT32, bias));
    }
  }

  private static Rows rows(ElementType type, int[] patterns) {
    MemorySegment memory = Arena.ofAuto().allocate((long) type.bytes() * patterns.length, 4);
    for (int i = 0; i < patterns.length; i++) {
      if (type == ElementType.FLOAT32) {
        memory.setAtIndex(JAVA_INT, i, patterns[i]);
      } else {
        memory.setAtIndex(JAVA_SHORT, i, (short) patterns[i]);
      }
    }
    return Rows.of(memory, type, 1, patterns.length);
  }

  private static int[] patterns(ElementType type, MemorySegment memory) {
    int[] patterns = new int[(int) (memory.byteSize() / type.bytes())];
    for (int i = 0; i < patterns.length; i++) {
      patterns[i] =
          type == ElementType.FLOAT32
              ? memory.getAtIndex(JAVA_INT, i)
              : memory.getAtIndex(JAVA_SHORT, i);
    }
    return patterns;
  }
}
