package io.github.rmsnorm4j.internal.quantized;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.internal.codec.Float8;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The description of scales and codes gives what docs/numerics.md says, written as plain steps. */
class CodeFormulaTest {
  private static final int LEAST_INFINITE = 0x7f800000;

  private static final boolean LONG = Boolean.getBoolean("tests.all");

  /** Magnitudes are this far apart, so that all exponents and many fractions occur. */
  private static final int STEP = LONG ? 4_099 : 40_009;

  /** They are closer around where factors become infinite. */
  private static final int SMALL_STEP = LONG ? 7 : 97;

  private static List<CodeFormula> all() {
    List<CodeFormula> all = new ArrayList<>();
    for (Float8 float8 : new Float8[] {null, Float8.E4M3, Float8.E5M2}) {
      CodeFormat format = new CodeFormat(CodeLayout.APART, 32, float8, false);
      for (CodeFactor factor : CodeFactor.values()) {
        for (CodeRounding rounding : CodeRounding.values()) {
          for (ScaleFloor floor : ScaleFloor.values()) {
            all.add(new CodeFormula(format, new CodeRule(factor, rounding, floor)));
          }
        }
      }
    }
    return all.stream().distinct().toList();
  }

  @Test
  void scalesAndFactorsAreThoseOfPlainJava() {
    assertThat(all()).hasSize(3 * 3 * 2 + 2 * 2);
    for (CodeFormula formula : all()) {
      for (int a = 0; a <= LEAST_INFINITE; a += a < (LONG ? 1 << 16 : 1 << 12) ? 1 : STEP) {
        check(formula, a);
      }
      for (int a = Float.floatToRawIntBits(0x1p-122f); a < 0x03000000; a += SMALL_STEP) {
        check(formula, a);
      }
      check(formula, LEAST_INFINITE - 1);
      check(formula, LEAST_INFINITE);
      check(formula, Float.floatToIntBits(Float.NaN));
    }
  }

  private static void check(CodeFormula formula, int magnitude) {
    float a = Float.intBitsToFloat(magnitude);
    Map<Value, Float> of = Map.of(CodeFormula.LARGEST, a);
    float scale = (float) value(formula.scale(), of);
    float factor = (float) value(formula.factor(), of);
    if (!isPositive(scale) || !isPositive(factor)) {
      scale = (float) value(formula.emptyScale(), of);
      factor = 0;
    }
    float[] wanted = wanted(formula, a);
    if (Float.floatToRawIntBits(scale) != Float.floatToRawIntBits(wanted[0])
        || Float.floatToRawIntBits(factor) != Float.floatToRawIntBits(wanted[1])) {
      throw new AssertionError(
          "%s of %s: scale %s, factor %s, wanted %s"
              .formatted(formula, a, scale, factor, Arrays.toString(wanted)));
    }
  }

  /** The scale, and the factor or the divisor; that is 0 where all codes are 0. */
  private static float[] wanted(CodeFormula formula, float a) {
    Float8 float8 = formula.format().float8();
    float most = float8 == null ? 127 : float8.largest;
    float d = a / most;
    if (!Float.isFinite(a)) {
      return new float[] {a, 0};
    }
    float least = float8 == null ? 0x1p-23f : 1 / (most * 512);
    boolean isFloor = formula.rule().floor() == ScaleFloor.VLLM && d < least;
    d = isFloor ? least : d;
    float factor =
        float8 != null || formula.rule().factor() == CodeFactor.DIVISION
            ? d
            : formula.rule().factor() == CodeFactor.RATIO && !isFloor ? 127 / a : 1 / d;
    boolean none = d == 0 || Float.isInfinite(factor);
    return none ? new float[] {0, 0} : new float[] {d, factor};
  }

  private static boolean isPositive(float number) {
    return number > 0 && number < Float.POSITIVE_INFINITY;
  }

  @Test
  void codesAreThoseOfPlainJava() {
    SplittableRandom random = new SplittableRandom(28);
    for (CodeFormula formula : all()) {
      for (int i = 0; i < 3_000; i++) {
        float[] y = new float[32];
        float size = Math.scalb(1, random.nextInt(10) > 0 ? random.nextInt(-30, 30) : -148);
        for (int k = 0; k < y.length; k++) {
          boolean tie = random.nextBoolean();
          y[k] =
              size
                  * (tie ? random.nextInt(-254, 255) * 0.5f : (float) random.nextDouble(-127, 127));
        }
        y[random.nextInt(32)] = 127 * size;
        float factor = wanted(formula, 127 * size)[1];
        for (int k = 0; k < y.length && factor > 0; k++) {
          assertThat(code(formula, y[k], factor))
              .as("%s of %s and %s", formula, y[k], factor)
              .isEqualTo(wantedCode(formula, y[k], factor));
        }
      }
    }
  }

  private static byte wantedCode(CodeFormula formula, float y, float factor) {
    Float8 float8 = formula.format().float8();
    boolean divides = float8 != null || formula.rule().factor() == CodeFactor.DIVISION;
    float v = divides ? y / factor : y * factor;
    if (float8 != null) {
      return float8.encode(v);
    }
    int code =
        switch (formula.rule().rounding()) {
          case EVEN -> (int) Math.rint(v);
          case AWAY -> (int) (v + Math.copySign(0.5, v));
          case HALF_ADDED -> (int) (v + 0.5f);
        };
    return (byte) Math.clamp(code, -127, 127);
  }

  @Test
  void aGivenScaleIsInvertedOnce() {
    CodeFormat format = new CodeFormat(CodeLayout.APART, 1, Float8.E4M3, true);
    CodeRule rule = new CodeRule(CodeFactor.RATIO, CodeRounding.AWAY, ScaleFloor.VLLM);
    CodeFormula formula = new CodeFormula(format, rule);
    float scale = 0.3f;
    float factor = (float) value(formula.factor(), Map.of(CodeFormula.GIVEN, scale));
    assertThat(factor).isEqualTo(1 / scale);
    for (float y : new float[] {0, -0f, 1, 77.7f, -1e9f, Float.NaN, Float.MIN_VALUE}) {
      byte[] codes = new byte[1];
      new Encoder(format, rule).encode(new float[] {y}, 1, 1, scale, codes, null);
      assertThat(code(formula, y, factor)).as("%s", y).isEqualTo(codes[0]);
    }
  }

  @Test
  void blocksWithSignedScalesAreRefused() {
    CodeFormat format = new CodeFormat(CodeLayout.Q8_K, 256, null, false);
    CodeRule rule = new CodeRule(CodeFactor.RATIO, CodeRounding.EVEN, ScaleFloor.NONE);
    assertThatThrownBy(() -> new CodeFormula(format, rule))
        .hasMessage(format + " has a formula of its own");
  }

  private static byte code(CodeFormula formula, float y, float factor) {
    Map<Value, Float> of = Map.of(CodeFormula.ELEMENT, y, CodeFormula.FACTOR, factor);
    Float8 float8 = formula.format().float8();
    if (float8 != null) {
      return float8.encode((float) value(formula.scaled(), of));
    }
    double number = value(formula.integer(), of);
    boolean isInteger = formula.rule().rounding() != CodeRounding.HALF_ADDED;
    assertThat((int) number).isBetween(-127, 127);
    assertThat(!isInteger || number == Math.rint(number)).isTrue();
    return (byte) (int) number;
  }

  private static double value(Value value, Map<Value, Float> of) {
    if (value.kind() == Value.Kind.ELEMENT) {
      return of.get(value);
    }
    double[] o = new double[2];
    for (int i = 0; i < value.operands().size(); i++) {
      o[i] = value(value.operands().get(i), of);
    }
    double result =
        switch (value.kind()) {
          case LITERAL -> value.number();
          case WIDENED -> o[0];
          case ONE_NAN -> o[0] != o[0] ? Float.NaN : o[0];
          case PLUS -> o[0] + o[1];
          case MINUS -> o[0] - o[1];
          case TIMES -> o[0] * o[1];
          case OVER -> o[0] / o[1];
          case MAX -> Math.max(o[0], o[1]);
          case MIN -> Math.min(o[0], o[1]);
          default -> throw new IllegalArgumentException(value.text());
        };
    return value.float64() ? result : (float) result;
  }
}
