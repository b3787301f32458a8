package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Gain and bias that are copied, what a norm says of them, and calls side by side. */
class CallParametersTest {
  private static final int WIDTH = 100;

  private static float[] floats(long seed, int n) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[n];
    for (int i = 0; i < n; i++) {
      values[i] = (float) random.nextDouble(-3, 3);
    }
    return values;
  }

  @Test
  void theBuildersGainAndBiasAreCopies() {
    float[] x = floats(2, WIDTH);
    float[] gain = floats(1, WIDTH);
    double[] bias = new SplittableRandom(3).doubles(WIDTH).toArray();
    float[] viewed = floats(4, WIDTH);
    RmsNorm arrays = RmsNorm.builder(WIDTH).gain(gain).bias(bias).build();
    RmsNorm view = RmsNorm.builder(WIDTH).gain(Rows.of(viewed, WIDTH)).build();
    float[][] before = {new float[WIDTH], new float[WIDTH]};
    float[][] after = {new float[WIDTH], new float[WIDTH]};
    arrays.apply(x, before[0]);
    view.apply(x, before[1]);
    Arrays.fill(gain, 0);
    Arrays.fill(bias, 0);
    Arrays.fill(viewed, 0);
    arrays.apply(x, after[0]);
    view.apply(x, after[1]);
    assertThat(after).isDeepEqualTo(before);
    assertThat(after[1]).doesNotContain(0f);
  }

  @Test
  void parameterCountAndText() {
    RmsNorm.Builder rms = RmsNorm.builder(4);
    assertThat(rms.build().parameterCount()).isZero();
    assertThat(rms.build()).hasToString("RmsNorm(4, rmsnorm)");
    assertThat(rms.gain(new float[4]).build().parameterCount()).isEqualTo(4);
    assertThat(rms.build()).hasToString("RmsNorm(4, rmsnorm, gain)");
    LayerNorm layer = LayerNorm.builder(4).gain(new float[4]).bias(new float[4]).build();
    assertThat(layer.parameterCount()).isEqualTo(8);
    assertThat(layer).hasToString("LayerNorm(4, layernorm, gain, bias)");
    assertThat(RmsNorm.llama(4).gain(new float[4]).build()).hasToString("RmsNorm(4, llama, gain)");
    assertThat(RmsNorm.gemma(4).gain(new float[4]).build()).hasToString("RmsNorm(4, gemma, gain)");
    assertThat(RmsNorm.paper(4).part(2).build())
        .hasToString("RmsNorm(4, rmsnorm(eps=1e-8 outside, part=1/2))");
    assertThat(RmsNorm.onnx(4).residualRounding(ResidualRounding.LAST).build())
        .hasToString("RmsNorm(4, onnx(residual=last))");
    assertThat(layer.width()).isEqualTo(4);
  }

  @Test
  void manyThreadsAtOnceGetTheSameBits() throws Exception {
    float[] x = floats(3, 700 * WIDTH * 8);
    LayerNorm norm = LayerNorm.builder(WIDTH).gain(floats(1, WIDTH)).threads(4).build();
    float[] expected = new float[x.length];
    LayerNorm.builder(WIDTH).gain(floats(1, WIDTH)).threads(1).build().apply(x, expected);
    for (ExecutorService pool :
        List.of(Executors.newFixedThreadPool(8), Executors.newVirtualThreadPerTaskExecutor())) {
      try (pool) {
        List<Future<float[]>> results = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
          results.add(
              pool.submit(
                  () -> {
                    float[] y = new float[x.length];
                    norm.apply(x, y);
                    return y;
                  }));
        }
        for (Future<float[]> result : results) {
          assertThat(Arrays.equals(result.get(), expected)).isTrue();
        }
      }
    }
  }

  @Test
  void anInterruptIsStillSetAndTheResultComplete() {
    float[] x = floats(3, 8000 * WIDTH);
    float[] expected = new float[x.length];
    RmsNorm.builder(WIDTH).threads(1).build().apply(x, expected);
    for (int threads : new int[] {1, 4}) {
      float[] y = new float[x.length];
      Thread.currentThread().interrupt();
      RmsNorm.builder(WIDTH).threads(threads).build().apply(x, y);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(Arrays.equals(y, expected)).isTrue();
    }
  }

  @Test
  void statisticsOfOrdinaryAndWideRows() {
    double[] sizes = {1, 1e-30, 1e30, 3e38, 1e-44, 0};
    for (ElementType type : new ElementType[] {FLOAT32, FLOAT64}) {
      Block x = new Block(Arena.ofAuto(), Place.ARRAY, type, sizes.length, WIDTH, WIDTH);
      Block y = new Block(Arena.ofAuto(), Place.ARRAY, type, sizes.length, WIDTH, WIDTH);
      SplittableRandom random = new SplittableRandom(5);
      for (int r = 0; r < sizes.length; r++) {
        x.put(r, new RandomRows(random).scaled(type, WIDTH, sizes[r], sizes[r] / 10));
      }
      double[] mean = new double[sizes.length + 1];
      double[] rstd = new double[sizes.length + 1];
      double[] rms = new double[sizes.length + 1];
      for (double[] statistic : List.of(mean, rstd, rms)) {
        statistic[sizes.length] = 42;
      }
      double epsilon = 1e-90;
      LayerNorm.builder(WIDTH).epsilon(epsilon).build().apply(x.rows, y.rows, mean, rstd);
      RmsNorm.builder(WIDTH).epsilon(epsilon).build().apply(x.rows, y.rows, rms);
      for (int r = 0; r < sizes.length; r++) {
        Contract.Result layer = Contract.row(x.values(r), type, type, true, epsilon, null, null);
        Contract.Result root = Contract.row(x.values(r), type, type, false, epsilon, null, null);
        assertThat(mean[r]).as("mean of row %d, %s", r, type).isEqualTo(layer.mean());
        assertThat(rstd[r]).as("rstd of row %d, %s", r, type).isEqualTo(layer.rstd());
        assertThat(rms[r]).as("rstd of row %d, %s", r, type).isEqualTo(root.rstd());
      }
      assertThat(new double[] {mean[sizes.length], rstd[sizes.length], rms[sizes.length]})
          .containsOnly(42);
      boolean rounded = rms[0] == (float) rms[0];
      assertThat(rounded).as("rstd is a float32 value").isEqualTo(type == FLOAT32);
    }
  }
}
