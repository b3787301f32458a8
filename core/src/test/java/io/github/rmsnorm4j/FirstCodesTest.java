package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.internal.norm.Payoff;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Blocks of Q8_0 that the first tier writes have the bytes of docs/numerics.md. */
class FirstCodesTest {
  private static final int CALLS = Backends.ALL_DRAWS ? 20_000 : 2_000;
  private static final List<CodeFactor> FACTORS = List.of(CodeFactor.RATIO, CodeFactor.INVERSE);
  private static final List<CodeRounding> ROUNDINGS = List.of(CodeRounding.EVEN, CodeRounding.AWAY);

  /** What the output of a block is. */
  private enum Output {
    ORDINARY,
    /** Half-way between two codes. */
    TIES,
    ZEROS,
    /** So small that the factor is infinite, or nearly. */
    TINY,
    INFINITE,
    NAN;

    float[] block(SplittableRandom random) {
      float[] y = new float[32];
      int scale = random.nextInt(-20, 20);
      for (int i = 0; i < y.length; i++) {
        float half = random.nextInt(-127, 127) + 0.5f;
        y[i] =
            switch (this) {
              case ORDINARY, NAN, INFINITE -> (float) random.nextDouble(-3, 3);
              case TIES -> Math.scalb(i == 0 ? 127 : half, scale);
              case ZEROS -> 0;
              case TINY -> half * Math.scalb(1f, -128 - random.nextInt(12));
            };
      }
      if (this == NAN || this == INFINITE) {
        y[random.nextInt(32)] = this == NAN ? Float.NaN : Float.NEGATIVE_INFINITY;
      }
      return y;
    }
  }

  @Test
  void theyAreTheContracts() {
    TreeSet<String> reached = new TreeSet<>();
    for (long seed = 0; seed < CALLS; seed++) {
      check(seed, reached);
    }
    assertThat(reached).hasSize(2 * 2 * Output.values().length + 3 * 2 * 2);
  }

  /** The gain is the output: x has the magnitude 1, or is added to 0. */
  private static void check(long seed, TreeSet<String> reached) {
    SplittableRandom random = new SplittableRandom(seed);
    int blocks = random.nextInt(1, 40);
    int width = 32 * blocks;
    Quantizer rule =
        Quantizer.defaults()
            .withFactor(FACTORS.get(random.nextInt(2)))
            .withRounding(ROUNDINGS.get(random.nextInt(2)))
            .withRoundedOutput(random.nextBoolean());
    float[] gain = new float[width];
    for (int b = 0; b < blocks; b++) {
      Output output = Output.values()[random.nextInt(Output.values().length)];
      System.arraycopy(output.block(random), 0, gain, 32 * b, 32);
      reached.add(rule.factor() + " " + rule.rounding() + " " + output);
    }
    float[] x = new float[width];
    for (int i = 0; i < width; i++) {
      x[i] = random.nextBoolean() ? 1 : -1;
      gain[i] *= x[i];
    }
    NormSpec.Kind kind = NormSpec.Kind.values()[random.nextInt(3)];
    NormSpec spec =
        switch (kind) {
          case RMS_NORM -> NormSpec.RMSNORM.withEpsilon(0);
          case LAYER_NORM -> NormSpec.LAYERNORM;
          case L2_NORM -> NormSpec.L2;
        };
    Norm norm = spec.builder(width).gain(gain).quantizer(rule).threads(1).build();
    boolean adds = random.nextBoolean();
    boolean isNative = random.nextBoolean();
    reached.add(kind + " " + adds + " " + isNative);
    float[] expected = new float[width];
    spec.builder(width).gain(gain).backend(Backend.scalar()).build().apply(x, expected);
    try (Arena arena = Arena.ofConfined()) {
      QuantizedBlock q = new QuantizedBlock(arena, !isNative, QuantizedType.Q8_0, 1, width, random);
      float[] sum = new float[width];
      Rows rows = Rows.of(x, width);
      Rows residual = adds ? Rows.of(sum, width) : null;
      boolean served =
          norm.firstTier(new Payoff()).quantize(rows, residual, q.rows.memory(), rule.rule());
      assertThat(served).isTrue();
      QuantizedContract contract =
          new QuantizedContract(QuantizedType.Q8_0, rule, QuantizedBlock.GIVEN);
      String mismatch = q.mismatch(contract, new float[][] {expected});
      assertThat(mismatch).as("seed %d, %s by %s", seed, norm, rule).isNull();
      assertThat(sum).isEqualTo(adds ? x : new float[width]);
    }
  }

  /** A call of a norm ends in the first tier for one row of the layout that it has. */
  @Test
  void othersGoToABackEnd() {
    Norm norm = RmsNorm.builder(256).build();
    Rows one = Rows.of(new float[256], 256);
    norm.apply(one, null, codes(QuantizedType.Q8_0, 1));
    norm.addAndApply(Rows.of(new float[256], 256), one, null, codes(QuantizedType.Q8_0, 1));
    assertThat(norm.backEndParts).isNull();
    Rows y = Rows.of(new float[256], 256);
    other(of -> of.apply(one, y, codes(QuantizedType.Q8_0, 1)), Quantizer.defaults());
    other(of -> of.apply(one, null, codes(QuantizedType.Q8_1, 1)), Quantizer.defaults());
    other(of -> of.apply(one, null, codes(QuantizedType.Q8_K, 1)), Quantizer.defaults());
    other(of -> of.apply(one, null, codes(QuantizedType.Q8_0, 1)), Quantizer.jlama());
    Quantizer divides = Quantizer.defaults().withFactor(CodeFactor.DIVISION);
    other(of -> of.apply(one, null, codes(QuantizedType.Q8_0, 1)), divides);
    Rows two = Rows.of(new float[512], 256);
    other(of -> of.apply(two, null, codes(QuantizedType.Q8_0, 2)), Quantizer.defaults());
    Rows narrow = Rows.of(new short[256], ElementType.BFLOAT16, 256);
    other(of -> of.apply(narrow, null, codes(QuantizedType.Q8_0, 1)), Quantizer.defaults());
  }

  private static void other(Consumer<Norm> call, Quantizer rule) {
    Norm norm = RmsNorm.builder(256).quantizer(rule).build();
    call.accept(norm);
    assertThat(norm.backEndParts).isNotNull();
  }

  private static QuantizedRows codes(QuantizedType type, int rows) {
    return QuantizedRows.of(new byte[(int) (rows * type.rowBytes(256))], type, 256);
  }
}
