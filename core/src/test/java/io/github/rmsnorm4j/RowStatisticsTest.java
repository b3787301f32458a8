package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Statistics without an output, outputs with a given statistic, and sums of some columns. */
class RowStatisticsTest {
  /**
   * The contract's, for all choices of a norm. A statistic and its output are those of one call.
   */
  @Test
  void haveTheBitsOfOneCall() {
    int[][] shapes = {
      {1, 1},
      {3, 7},
      {5, 32},
      {70, 64},
      {40, 96},
      {33, 100},
      {9, 1024},
      {7, 1025},
      {66, 2048},
      {5, 4100},
      {2, 65536},
      {2, 65537},
      {3, 140000}
    };
    Map<String, Integer> checked = new TreeMap<>();
    for (int[] shape : shapes) {
      int draws = (Backends.ALL_DRAWS ? 4 : 1) * (shape[0] * shape[1] > 60_000 ? 8 : 40);
      for (int seed = 0; seed < draws; seed++) {
        ElementType type = ElementType.values()[seed % 4];
        StatisticCheck drawn = StatisticCheck.of(seed + shape[1], shape[1], shape[0], type);
        for (Backend backend : Backends.inTurn(Backends.EACH, seed / 4)) {
          drawn
              .on(backend, 1)
              .forEach(part -> checked.merge(part + " on " + backend, 1, Integer::sum));
        }
      }
    }
    // An older JDK has plain Java alone, under more than one name.
    long backends = Backends.EACH.stream().map(Backend::toString).distinct().count();
    assertThat(checked).hasSize((int) (4 * backends));
    assertThat(checked.values()).allMatch(count -> count > 8);
  }

  /** LayerNorm takes two passes. */
  @Test
  void veryWideRowsHaveTheBitsOfOneCall() {
    for (int seed = 0; seed < 4; seed++) {
      int width = (1 << 20) + 2000 * seed + 1;
      StatisticCheck drawn = StatisticCheck.of(seed, width, 2, ElementType.values()[seed]);
      Backends.inTurn(Backends.EACH, seed).forEach(backend -> drawn.on(backend, 1));
    }
  }

  @Test
  void manyThreadsHaveTheSameBits() {
    for (int seed = 0; seed < 8; seed++) {
      StatisticCheck drawn = StatisticCheck.of(seed, 1000, 1100, ElementType.values()[seed % 4]);
      drawn.on(Backends.EACH.get(seed % Backends.EACH.size()), 3);
    }
  }

  /** The columns of each owner, whose sums are added. */
  @ParameterizedTest
  @CsvSource({
    "6144, 4, 0",
    "1024, 8, 0",
    "1000, 3, 0",
    "1000, 3, 20",
    "65, 64, 3",
    "140000, 5, 1",
    "4096, 1, 100"
  })
  void splitRowsAreAsGoodAsWholeOnes(int width, int owners, double mean) {
    for (String text :
        new String[] {"rmsnorm", "layernorm", "l2", "gemma", "rmsnorm(eps=0 floor)"}) {
      for (ElementType type : new ElementType[] {ElementType.FLOAT32, ElementType.FLOAT64}) {
        split(NormSpec.parse(text), type, width, owners, mean);
      }
    }
  }

  private static void split(NormSpec spec, ElementType type, int width, int owners, double mean) {
    int rows = 3;
    SplittableRandom random = new SplittableRandom(width);
    double[] x = random.doubles(rows * width, mean - 1, mean + 1).toArray();
    double[] gain = random.doubles(width, 0.5, 1.5).toArray();
    Data whole = new Data(x, type, width);
    Norm norm = spec.builder(width).gain(gain).build();
    norm.apply(whole.rows, whole.y);
    int[] cuts = random.ints(owners - 1L, 1, width).distinct().sorted().toArray();
    int[] ends = Arrays.copyOf(cuts, cuts.length + 1);
    ends[cuts.length] = width;
    Norm[] parts = new Norm[ends.length];
    double[] all = new double[spec.isCentred() ? 2 * rows : rows];
    for (int p = 0; p < ends.length; p++) {
      int from = p == 0 ? 0 : ends[p - 1];
      parts[p] = spec.builder(ends[p] - from).gain(Arrays.copyOfRange(gain, from, ends[p])).build();
      double[] sums = new double[all.length];
      parts[p].sums(whole.columns(whole.rows, from, ends[p]), sums);
      Arrays.setAll(all, i -> all[i] + sums[i]);
    }
    Data found = new Data(x, type, width);
    RowStatistics of = statistics(spec, rows);
    for (int p = 0; p < ends.length; p++) {
      int from = p == 0 ? 0 : ends[p - 1];
      parts[p].statistics(all, width, of);
      parts[p].apply(
          found.columns(found.rows, from, ends[p]), of, found.columns(found.y, from, ends[p]));
    }
    // The variance is 1/3. A whole row is less its first element, up to 1 from the mean.
    double cancellation = 4 + 3 * mean * mean;
    double blocks = width / 65_536 + 1 + ends.length;
    requireClose(norm, whole, found, of, cancellation, (301 + 3 * blocks) * 0x1p-53);
  }

  /**
   * The variance of the split row is off by as much as docs/numerics.md says, and so is that of the
   * whole row; rstd is off by half of either. Then rstd, the product with it and that with the gain
   * are rounded in both.
   */
  private static void requireClose(
      Norm norm, Data whole, Data found, RowStatistics of, double cancellation, double ofSum) {
    RowStatistics wanted = statistics(norm.spec(), of.rstd().length);
    norm.statistics(whole.rows, wanted);
    boolean float64 = whole.rows.type() == ElementType.FLOAT64;
    double ofSums = ofSum * cancellation;
    double ofTerms = ofSums + 6 * (float64 ? 0x1p-53 : 0x1p-24);
    for (int r = 0; r < of.rstd().length; r++) {
      double rstd = wanted.rstd()[r];
      double off = ofSums + (float64 ? 0 : 0x1p-24);
      assertThat(of.rstd()[r]).isCloseTo(rstd, offset(off * rstd));
      for (int i = 0; i < norm.width(); i++) {
        double y = whole.y.type().get(whole.y.segment(), (long) r * norm.width() + i);
        double got = found.y.type().get(found.y.segment(), (long) r * norm.width() + i);
        // Of LayerNorm the difference of two means has no part in y.
        double size = Math.abs(y) + (norm.spec().isCentred() ? 2 * cancellation * rstd : 0);
        assertThat(got)
            .as("%s, row %d, column %d", norm, r, i)
            .isCloseTo(y, offset(ofTerms * size));
      }
    }
  }

  private static RowStatistics statistics(NormSpec spec, int rows) {
    double[] rstd = new double[rows];
    return spec.isCentred() ? RowStatistics.of(new double[rows], rstd) : RowStatistics.of(rstd);
  }

  /** Rows of a type, and as many rows for the result. */
  private static final class Data {
    final Rows rows;
    final Rows y;

    Data(double[] x, ElementType type, int width) {
      rows = rows(x, type, width);
      y = rows(new double[x.length], type, width);
    }

    private static Rows rows(double[] values, ElementType type, int width) {
      if (type == ElementType.FLOAT64) {
        return Rows.of(values.clone(), width);
      }
      float[] floats = new float[values.length];
      for (int i = 0; i < floats.length; i++) {
        floats[i] = (float) values[i];
      }
      return Rows.of(floats, width);
    }

    Rows columns(Rows all, int from, int to) {
      long at = (long) from * all.type().bytes();
      return Rows.of(all.segment().asSlice(at), all.type(), all.rows(), to - from, all.width());
    }
  }

  /** The root is 1 / rstd. */
  @ParameterizedTest
  @EnumSource(
      value = CastOrder.class,
      names = {"ONNX", "DIVIDED", "NONE_DIVIDED"})
  void ordersThatDivideTakeTheReciprocal(CastOrder order) {
    float[] x = {1, -2, 3, 1e-39f, 5, 6};
    float[] y = new float[6];
    double[] given = {0.7f, 3e-45};
    for (Backend backend : Backends.EACH) {
      RmsNorm norm = RmsNorm.builder(3).castOrder(order).backend(backend).build();
      norm.apply(Rows.of(x, 3), RowStatistics.of(given), Rows.of(y, 3));
      for (int i = 0; i < 6; i++) {
        double root = 1 / given[i / 3];
        float wanted = i < 3 ? x[i] / (float) root : (float) (x[i] / root);
        assertThat(y[i]).as("%d on %s", i, backend).isEqualTo(wanted);
      }
    }
  }

  /** Also from an rstd that is not of such a root. */
  @Test
  void aRootOfSixteenBitsIsRoundedToThem() {
    ElementType type = ElementType.FLOAT16;
    double root = Rounding.to(type, (float) (1 / 0.7));
    short[] x = new short[96];
    for (Backend backend : Backends.EACH) {
      short[] y = new short[96];
      RmsNorm norm = RmsNorm.builder(96).castOrder(CastOrder.NONE_DIVIDED).backend(backend).build();
      for (int i = 0; i < 96; i++) {
        x[i] = Float.floatToFloat16(1 + i / 128f);
      }
      norm.apply(Rows.of(x, type, 96), RowStatistics.of(new double[] {0.7}), Rows.of(y, type, 96));
      for (int i = 0; i < 96; i++) {
        double wanted = Rounding.to(type, (1 + i / 128f) / (float) root);
        assertThat(Float.float16ToFloat(y[i])).as("%d on %s", i, backend).isEqualTo((float) wanted);
      }
    }
  }

  /** Squares that leave the range of float64. */
  @Test
  void infiniteSumsGiveAnRstdOfZero() {
    double[] x = {1e200, 1e200, Double.NaN, 1};
    double[] sums = new double[2];
    RmsNorm norm = RmsNorm.builder(2).build();
    norm.sums(Rows.of(x, 2), sums);
    assertThat(sums).containsExactly(Double.POSITIVE_INFINITY, Double.NaN);
    double[] rstd = new double[2];
    norm.statistics(sums, 2, RowStatistics.of(rstd));
    assertThat(rstd).containsExactly(0, Double.NaN);
  }

  @Test
  void noRowsWriteNothing() {
    Rows none = Rows.of(new float[0], 5);
    RowStatistics one = RowStatistics.of(new double[] {3}, new double[] {4});
    LayerNorm norm = LayerNorm.builder(5).build();
    norm.statistics(none, one);
    norm.sums(none, new double[0]);
    norm.statistics(new double[0], 5, one);
    norm.apply(none, one, none);
    assertThat(one.mean()).containsExactly(3);
    assertThat(one.rstd()).containsExactly(4);
  }
}
