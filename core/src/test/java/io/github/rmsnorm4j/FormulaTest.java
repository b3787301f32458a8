package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.reference.Casts;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every choice of a forward pass against its formula in {@code reference}. */
class FormulaTest {
  private static final int CASES = 5000;
  private static final ElementType[] TYPES = ElementType.values();
  private static final Gate[] GATES = {Gate.SILU, Gate.SIGMOID, Gate.SILU_BEFORE};

  /** Of one size and either sign, none near 0: no part of it is much smaller than the rest. */
  private static Values values(SplittableRandom random, ElementType type, int n, double size) {
    double[] row = new double[n];
    for (int i = 0; i < n; i++) {
      double v = size * random.nextDouble(0.5, 2);
      row[i] = Rounding.to(type, random.nextBoolean() ? v : -v);
    }
    return new Values(type, row);
  }

  private static ElementType anyType(SplittableRandom random) {
    return TYPES[random.nextInt(TYPES.length)];
  }

  @ParameterizedTest
  @EnumSource
  void everyChoiceInEveryCastOrder(CastOrder order) {
    FormulaCheck check = new FormulaCheck();
    for (long seed = 0; seed < CASES; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int groups = random.nextInt(4) == 0 ? random.nextInt(2, 6) : 1;
      int width = groups * random.nextInt(1, 150 / groups);
      double epsilon = new double[] {1e-3, 0.02, 0.5}[random.nextInt(3)];
      Gate gate = random.nextInt(3) == 0 ? GATES[random.nextInt(GATES.length)] : Gate.NONE;
      boolean centred = gate != Gate.SILU_BEFORE && random.nextBoolean();
      Variant any = Variant.any(random, centred, width, epsilon);
      Variant is = any.withGroups(groups).with(gate);
      if (is.order() == order) {
        double size = Math.pow(10, random.nextInt(-2, 2));
        ElementType in = anyType(random);
        Values x = values(random, in, width, size);
        int n = random.nextInt(3) == 0 ? width / is.groups() : width;
        Values gain = random.nextInt(4) > 0 ? values(random, anyType(random), n, 1) : null;
        boolean bias = order == CastOrder.FLOAT32 && random.nextBoolean();
        Values b = bias ? values(random, anyType(random), n, 1) : null;
        ElementType added = in == FLOAT64 ? in : TYPES[random.nextInt(1, TYPES.length)];
        boolean adds = gate == Gate.NONE && random.nextBoolean();
        Values residual = adds ? values(random, added, width, size) : null;
        Values z = gate == Gate.NONE ? null : values(random, added, width, 3);
        Norm norm = is.norm(builder -> parameters(builder, gain, b));
        check.see(norm, is, x, residual, z, gain, b, anyType(random));
      }
    }
    check.isBelowOne(order + " and all that goes with it");
  }

  private static void parameters(NormBuilder<?> builder, Values gain, Values bias) {
    if (gain != null) {
      builder.gain(rows(gain));
    }
    if (bias != null) {
      builder.bias(rows(bias));
    }
  }

  private static Rows rows(Values values) {
    int n = values.of().length;
    Block block = new Block(Arena.ofAuto(), Place.ARRAY, values.type(), 1, n, n);
    block.put(0, values.of());
    return block.rows;
  }

  /** What each source has: epsilon, where it is, where it casts, and what it adds to its gain. */
  static Stream<Arguments> presets() {
    return Stream.of(
        preset("llama", RmsNorm::llama, 1e-6, "INSIDE", "LLAMA", 0, TYPES),
        preset("gemma", RmsNorm::gemma, 1e-6, "INSIDE", "FLOAT32", 1, TYPES),
        preset("t5", RmsNorm::t5, 1e-6, "INSIDE", "T5", 0, TYPES),
        preset("paper", RmsNorm::paper, 1e-8, "OUTSIDE", "FLOAT32", 0, TYPES),
        preset("onnx", RmsNorm::onnx, 1e-5, "INSIDE", "ONNX", 0, TYPES),
        preset("pytorch", RmsNorm::pytorch, 0x1p-23, "INSIDE", "FLOAT32", 0, FLOAT16, FLOAT32),
        preset("pytorch", RmsNorm::pytorch, 0x1p-23, "INSIDE", "FLOAT32", 0, BFLOAT16),
        preset("pytorch", RmsNorm::pytorch, 0x1p-52, "INSIDE", "FLOAT32", 0, FLOAT64));
  }

  private static Arguments preset(
      String name,
      IntFunction<RmsNorm.Builder> builder,
      double epsilon,
      String placement,
      String order,
      double offset,
      ElementType... types) {
    Variant is =
        new Variant(
            false,
            64,
            64,
            epsilon,
            EpsilonPlacement.valueOf(placement),
            CastOrder.valueOf(order),
            offset,
            ResidualRounding.FIRST);
    return Arguments.of(name, builder, is, types);
  }

  /** On rows so small that every epsilon shows. */
  @ParameterizedTest(name = "{0}, {2}")
  @MethodSource("presets")
  void presetsAreTheFormulasOfTheirSources(
      String name, IntFunction<RmsNorm.Builder> builder, Variant is, ElementType[] types) {
    FormulaCheck check = new FormulaCheck();
    for (ElementType in : types) {
      for (ElementType weight : TYPES) {
        for (double size : new double[] {1, 1e-3, 1e-8}) {
          if (in != FLOAT16 || size > 1e-4) {
            SplittableRandom random = new SplittableRandom(in.ordinal() * 4L + weight.ordinal());
            Values x = values(random, in, 64, size);
            Values gain = values(random, weight, 64, 1);
            RmsNorm norm = builder.apply(64).gain(rows(gain)).build();
            assertThat(norm.spec().epsilon(in)).isEqualTo(is.epsilon());
            check.see(norm, is, x, null, null, gain, null, in);
            check.see(norm, is, x, null, null, gain, null, weight);
            Values residual = in == FLOAT64 ? x : values(random, in, 64, size);
            check.see(norm, is, x, residual, null, gain, null, in);
          }
        }
      }
    }
    check.isBelowOne("preset " + name);
  }

  /** {@code torch.nn.functional.normalize}, x / max(||x||, E), as docs/variants.md builds it. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 64, 1000})
  void l2NormalisationIsRmsNormOnAFloor(int width) {
    double least = 1e-12;
    double root = Math.sqrt(width);
    float[] gain = new float[width];
    Arrays.fill(gain, (float) (1 / root));
    RmsNorm.Builder builder = RmsNorm.builder(width).epsilon(least / root).gain(gain);
    RmsNorm norm = builder.epsilonPlacement(EpsilonPlacement.FLOOR).build();
    for (double size : new double[] {0, 1e-20, 1e-13, 1e-12, 1e-3, 1, 1e20}) {
      double[] x = values(new SplittableRandom(width), FLOAT32, width, size).of();
      double length = Math.sqrt(Arrays.stream(x).map(v -> v * v).sum());
      float[] y = applied(norm, x);
      float[] unscaled = applied(RmsNorm.builder(width).epsilon(0).build(), x);
      for (int i = 0; i < width; i++) {
        double expected = x[i] / Math.max(length, least);
        assertThat((double) y[i]).isCloseTo(expected, within(5 * 0x1p-24 * Math.abs(expected)));
        if (size > 0) {
          double longer = root * x[i] / length;
          assertThat((double) unscaled[i])
              .isCloseTo(longer, within(4 * 0x1p-24 * Math.abs(longer)));
        }
      }
    }
  }

  private static float[] applied(RmsNorm norm, double[] x) {
    float[] y = new float[x.length];
    for (int i = 0; i < y.length; i++) {
      y[i] = (float) x[i];
    }
    norm.apply(y, y);
    return y;
  }

  private static double differing(Variant a, Variant b, boolean residual) {
    SplittableRandom random = new SplittableRandom(7);
    int differing = 0;
    Values gain = new Values(BFLOAT16, new RandomRows(random).scaled(BFLOAT16, 4096, 1, 1));
    for (int r = 0; r < 8; r++) {
      double[] x = new RandomRows(random).scaled(BFLOAT16, 4096, 3, 0);
      double[] h = new RandomRows(random).scaled(BFLOAT16, 4096, 3, 0);
      Values added = residual ? new Values(BFLOAT16, h) : null;
      double[] left = Contract.row(a, new Values(BFLOAT16, x), added, gain, null, BFLOAT16).y();
      double[] right = Contract.row(b, new Values(BFLOAT16, x), added, gain, null, BFLOAT16).y();
      for (int i = 0; i < left.length; i++) {
        differing += left[i] == right[i] ? 0 : 1;
      }
    }
    return differing / (8 * 4096.0);
  }

  private static Variant variant(CastOrder order, ResidualRounding rounding) {
    return new Variant(false, 4096, 4096, 1e-6, EpsilonPlacement.INSIDE, order, 0, rounding);
  }

  /** The choices are not all the same: in how many elements of bfloat16 rows they differ. */
  @Test
  void howOftenChoicesDiffer() {
    Variant plain = variant(CastOrder.FLOAT32, ResidualRounding.FIRST);
    Variant llama = variant(CastOrder.LLAMA, ResidualRounding.FIRST);
    Variant between = variant(CastOrder.FLOAT32, ResidualRounding.BETWEEN);
    Variant last = variant(CastOrder.FLOAT32, ResidualRounding.LAST);
    assertThat(differing(plain, llama, false)).isBetween(0.2, 0.32);
    assertThat(differing(plain, last, true)).isBetween(0.15, 0.3);
    assertThat(differing(plain, between, true)).isBetween(1e-4, 0.02);
  }

  /** The definitions' rounding against the JDK's, and against the other one that tests have. */
  @Test
  void roundingToEveryType() {
    SplittableRandom random = new SplittableRandom(11);
    for (int i = 0; i < 200_000; i++) {
      double any = Double.longBitsToDouble(random.nextLong());
      double near = Math.scalb(random.nextDouble(-2, 2), random.nextInt(-155, 130));
      float middle = Float.intBitsToFloat(random.nextInt() & 0xffff8000);
      for (double v : new double[] {any, near, middle}) {
        assertThat(Casts.round(v, FLOAT32)).as("%s", v).isEqualTo(Double.valueOf((float) v));
        for (ElementType type : TYPES) {
          assertThat(Casts.round(v, type))
              .as("%s to %s", v, type)
              .isEqualTo(Double.valueOf(Rounding.to(type, v)));
        }
      }
      float f = (float) near;
      assertThat(Casts.round(f, FLOAT16))
          .isEqualTo(Double.valueOf(Float.float16ToFloat(Float.floatToFloat16(f))));
    }
  }
}
