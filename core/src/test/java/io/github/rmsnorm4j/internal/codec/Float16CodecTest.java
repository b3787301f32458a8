package io.github.rmsnorm4j.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.lowering.Kernels;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The 16-bit types by their definition: every pattern, and rounding against exact decimals. */
class Float16CodecTest {
  private static final int PATTERNS = 1 << 16;
  private static final int[] VECTOR_BITS = {0, 128, 256, 512};
  private static final long SEED = 16;

  /** The definition of one type: the value of a pattern, and the pattern nearest to a value. */
  private enum Format {
    FLOAT16(ElementType.FLOAT16, 10, 15, 0x7e00),
    BFLOAT16(ElementType.BFLOAT16, 7, 127, 0x7fc0);

    final ElementType type;
    final int digits;
    final int bias;
    final int nan;
    final int infinity;

    Format(ElementType type, int digits, int bias, int nan) {
      this.type = type;
      this.digits = digits;
      this.bias = bias;
      this.nan = nan;
      infinity = 0x7fff >>> digits << digits;
    }

    double value(int pattern) {
      int exponent = (pattern & 0x7fff) >>> digits;
      int fraction = pattern & (1 << digits) - 1;
      double sign = (pattern & 0x8000) == 0 ? 1 : -1;
      if ((pattern & 0x7fff) >= infinity) {
        return fraction == 0 ? sign * Double.POSITIVE_INFINITY : Double.NaN;
      }
      int whole = exponent == 0 ? fraction : fraction + (1 << digits);
      return sign * Math.scalb((double) whole, Math.max(exponent, 1) - bias - digits);
    }

    /** Like {@link #value}, and for infinity the number that would come next. */
    BigDecimal step(int pattern) {
      return new BigDecimal(
          pattern == infinity ? Math.scalb(1.0, bias + 1) : Math.abs(value(pattern)));
    }

    /** By halving the patterns, which grow with their values, and comparing distances exactly. */
    int nearest(double value) {
      if (value != value) {
        return nan;
      }
      int sign = Double.doubleToRawLongBits(value) < 0 ? 0x8000 : 0;
      if (Double.isInfinite(value)) {
        return sign | infinity;
      }
      BigDecimal wanted = new BigDecimal(Math.abs(value));
      int low = 0;
      int high = infinity;
      while (high - low > 1) {
        int middle = low + high >>> 1;
        if (step(middle).compareTo(wanted) <= 0) {
          low = middle;
        } else {
          high = middle;
        }
      }
      int side = wanted.subtract(step(low)).compareTo(step(high).subtract(wanted));
      boolean up = side > 0 || side == 0 && (low & 1) == 1;
      return sign | (up ? high : low);
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyPatternIsDecodedAsDefined(Format format) {
    for (int bits : VECTOR_BITS) {
      float[] values = decode(format, bits, allPatterns());
      for (int p = 0; p < PATTERNS; p++) {
        if (Double.doubleToLongBits(values[p]) != Double.doubleToLongBits(format.value(p))) {
          throw new AssertionError(
              "%s %04x by %d bits is %s, not %s"
                  .formatted(format, p, bits, values[p], format.value(p)));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyPatternComesBackAndNaNIsCanonical(Format format) {
    for (int bits : VECTOR_BITS) {
      short[] back = encode(format, bits, decode(format, bits, allPatterns()));
      for (int p = 0; p < PATTERNS; p++) {
        int wanted = Double.isNaN(format.value(p)) ? format.nan : p;
        assertPattern(back[p], wanted, format, format.value(p), bits);
      }
    }
  }

  /** NaN of any sign and payload, which rounding of the bits would turn into infinity or zero. */
  @ParameterizedTest
  @EnumSource
  void everyNaNBecomesTheCanonicalOne(Format format) {
    float[] nans = new float[99];
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < nans.length; i++) {
      int payload = i == 0 ? 0x7fffff : i == 1 ? 1 : random.nextInt(1, 1 << 23);
      nans[i] = Float.intBitsToFloat((i % 2 == 0 ? 0x7f800000 : 0xff800000) | payload);
    }
    for (int bits : VECTOR_BITS) {
      assertThat(encode(format, bits, nans)).containsOnly((short) format.nan);
    }
  }

  @ParameterizedTest
  @EnumSource
  void float32IsRoundedToTheNearestTiesToEven(Format format) {
    float[] values = new float[9_003];
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (i % 3) {
            case 0 -> Float.intBitsToFloat(random.nextInt());
            case 1 -> (float) halfway(format, random);
            default -> {
              float tie = (float) halfway(format, random);
              yield random.nextBoolean() ? Math.nextUp(tie) : Math.nextDown(tie);
            }
          };
    }
    values[1] = (float) halfwayAfter(format, format.infinity - 1);
    values[4] = Math.nextDown(values[1]);
    values[7] = Float.MAX_VALUE;
    values[10] = -Float.MIN_VALUE;
    values[13] = (float) halfwayAfter(format, 0);
    int[] wanted = new int[values.length];
    Arrays.setAll(wanted, i -> format.nearest(values[i]));
    for (int bits : VECTOR_BITS) {
      short[] patterns = encode(format, bits, values);
      for (int i = 0; i < values.length; i++) {
        assertPattern(patterns[i], wanted[i], format, values[i], bits);
      }
    }
    assertThat(format.nearest(values[1])).isEqualTo(format.infinity);
    assertThat(format.nearest(values[4])).isEqualTo(format.infinity - 1);
    assertThat(format.nearest(values[13])).isZero();
  }

  /**
   * Numbers so near a tie that float32 falls on it: rounding by way of float32 would be wrong. A
   * norm whose rstd is exactly 1 and whose gain is a power of two hands them to its output.
   */
  @ParameterizedTest
  @EnumSource
  void float64IsRoundedOnce(Format format) {
    SplittableRandom random = new SplittableRandom(SEED);
    double[] values = new double[6000];
    int twice = 0;
    for (int i = 0; i < values.length; i++) {
      double tie = halfway(format, random);
      values[i] =
          switch (i % 4) {
            case 0 -> Math.nextUp(tie);
            case 1 -> Math.nextDown(tie);
            case 2 -> tie;
            default -> tie * (1 + random.nextInt(-9, 10) * 0x1p-26);
          };
      twice += format.nearest((float) values[i]) == format.nearest(values[i]) ? 0 : 1;
    }
    assertThat(twice).as("values that two roundings get wrong").isGreaterThan(1000);
    int[] wanted = new int[values.length];
    Arrays.setAll(wanted, i -> format.nearest(values[i]));
    double[] x = new double[values.length];
    double[] gain = new double[values.length];
    for (int i = 0; i < x.length; i++) {
      x[i] = Math.scalb(values[i], -400);
      gain[i] = 0x1p400;
    }
    for (Backend backend : new Backend[] {Backend.scalar(), Backend.vector(128), Backend.best()}) {
      short[] y = new short[x.length];
      RmsNorm norm = RmsNorm.builder(x.length).epsilon(1).gain(gain).backend(backend).build();
      norm.apply(Rows.of(x, x.length), Rows.of(y, format.type, x.length));
      for (int i = 0; i < x.length; i++) {
        assertPattern(y[i], wanted[i], format, values[i], backend.vectorBits());
      }
    }
  }

  private static void assertPattern(
      short pattern, int wanted, Format format, double value, int bits) {
    if ((pattern & 0xffff) != wanted) {
      throw new AssertionError(
          "%s of %s by %d bits is %04x, not %04x"
              .formatted(format, value, bits, pattern & 0xffff, wanted));
    }
  }

  /** A number halfway between two neighbours of any size, subnormal and overflowing ones too. */
  private static double halfway(Format format, SplittableRandom random) {
    double tie = halfwayAfter(format, random.nextInt(format.infinity));
    return random.nextBoolean() ? tie : -tie;
  }

  private static double halfwayAfter(Format format, int pattern) {
    return format.step(pattern).add(format.step(pattern + 1)).doubleValue() / 2;
  }

  /** Also over its first few elements alone, where no whole vector fits. */
  private static float[] decode(Format format, int bits, short[] patterns) {
    float[] values = new float[patterns.length];
    decode(format, bits, patterns, values, patterns.length);
    float[] few = new float[patterns.length];
    decode(format, bits, patterns, few, 3);
    assertThat(Float.compare(few[2], values[2])).isZero();
    assertThat(few[3]).isZero();
    return values;
  }

  private static void decode(Format format, int bits, short[] from, float[] into, int n) {
    if (format.type == ElementType.FLOAT16) {
      new NarrowArrays().decode(ElementType.FLOAT16, from, into, n);
    } else {
      copy(bits, Value.element(Forward.X, format.type), ElementType.FLOAT32, from, into, n);
    }
  }

  private static short[] encode(Format format, int bits, float[] values) {
    short[] patterns = new short[values.length];
    encode(format, bits, values, patterns, values.length);
    short[] few = new short[values.length];
    encode(format, bits, values, few, 3);
    assertThat(few[2]).isEqualTo(patterns[2]);
    assertThat(few[3]).isZero();
    float[] rounded = new float[values.length];
    Value x = Value.element(Forward.X, ElementType.FLOAT32);
    copy(bits, x.cast(format.type), ElementType.FLOAT32, values, rounded, values.length);
    float[] decoded = decode(format, 0, patterns);
    for (int i = 0; i < values.length; i++) {
      assertThat(Float.floatToRawIntBits(rounded[i]))
          .as("cast of %s by %d bits", values[i], bits)
          .isEqualTo(Float.floatToRawIntBits(decoded[i]));
    }
    return patterns;
  }

  private static void encode(Format format, int bits, float[] from, short[] into, int n) {
    if (format.type == ElementType.FLOAT16) {
      float[] oneNan = new float[from.length];
      Value x = Value.element(Forward.X, ElementType.FLOAT32);
      copy(bits, x.oneNan(), ElementType.FLOAT32, from, oneNan, n);
      new NarrowArrays().encode(ElementType.FLOAT16, oneNan, into, n);
    } else {
      copy(bits, Value.element(Forward.X, ElementType.FLOAT32), format.type, from, into, n);
    }
  }

  /** Runs a kernel that stores a value of x in y. */
  private static void copy(int bits, Value value, ElementType y, Object from, Object into, int n) {
    Stage stage = new Stage.Builder().store(Forward.Y, y, value).build();
    Map<Tensor, Memory> memory = Map.of(Forward.X, Memory.HEAP, Forward.Y, Memory.HEAP);
    Frame frame = new Frame();
    frame.place(Forward.X, from, 0, 0);
    frame.place(Forward.Y, into, 0, 0);
    Kernels kernels = new Kernels(bits, memory, n, false);
    (bits == 0 ? kernels.plain(stage) : kernels.of(stage, n)).run(frame, 1, 0, n);
  }

  private static short[] allPatterns() {
    short[] patterns = new short[PATTERNS];
    for (int p = 0; p < PATTERNS; p++) {
      patterns[p] = (short) p;
    }
    return patterns;
  }
}
