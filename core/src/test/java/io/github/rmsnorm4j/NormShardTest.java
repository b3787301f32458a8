package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Rows of which several owners have a part each have the bits of whole rows. */
class NormShardTest {
  private static final Consumer<double[]> NO_FAULT = numbers -> {};

  /** Of wide rows, and of many: by default each type, and each back end once. */
  private static final int CALLS =
      Backends.ALL_DRAWS ? 8 : Math.max(ElementType.values().length, Backends.EACH.size());

  @ParameterizedTest
  @CsvSource({
    "5, 1",
    "7, 1000",
    "6, 1024",
    "9, 1025",
    "5, 2048",
    "33, 3000",
    "40, 4096",
    "3, 9999",
    "2, 65536",
    "2, 66000",
    "2, 140000"
  })
  void haveTheBitsOfWholeRows(int rows, int width) throws InterruptedException {
    int seeds = rows * width > 50_000 ? 8 : 24;
    for (int seed = 0; seed < (Backends.ALL_DRAWS ? seeds : seeds / 2); seed++) {
      ShardCase drawn = new ShardCase(seed, ElementType.values()[seed % 4], rows, width);
      for (Backend backend : Backends.inTurn(Backends.EACH, seed + rows + width)) {
        drawn.check(backend, 1, NO_FAULT);
      }
    }
  }

  /** LayerNorm takes two passes. */
  @Test
  void haveTheBitsOfVeryWideRows() throws InterruptedException {
    for (int seed = 0; seed < CALLS; seed++) {
      ElementType type = ElementType.values()[seed % 4];
      ShardCase drawn = new ShardCase(seed, type, 2, (1 << 20) + 2000 * seed);
      drawn.check(Backends.EACH.get(seed % Backends.EACH.size()), 1, NO_FAULT);
    }
  }

  @Test
  void manyThreadsHaveTheSameBits() throws InterruptedException {
    for (int seed = 0; seed < CALLS; seed++) {
      ShardCase drawn = new ShardCase(seed, ElementType.values()[seed % 4], 300, 3000);
      drawn.check(Backends.EACH.get(seed % Backends.EACH.size()), 3, NO_FAULT);
    }
  }

  /** The order of the merge matters, and this test would see another one. */
  @Test
  void anotherOrderOfTheBlocksHasOtherBits() throws InterruptedException {
    int caught = 0;
    for (int seed = 0; seed < 20; seed++) {
      int blocks = 6;
      ShardCase drawn = new ShardCase(seed, ElementType.FLOAT64, 8, blocks * 1024);
      try {
        drawn.check(Backend.scalar(), 1, numbers -> swapBlocks(numbers, blocks));
      } catch (AssertionError fault) {
        caught++;
      }
      drawn.check(Backend.scalar(), 1, NO_FAULT);
    }
    assertThat(caught).isGreaterThan(10);
  }

  /** The first block comes last; what is no sum of blocks stays. */
  private static void swapBlocks(double[] numbers, int blocks) {
    if (numbers.length % (blocks * 32) == 0) {
      int block = numbers.length / blocks;
      double[] first = Arrays.copyOf(numbers, block);
      System.arraycopy(numbers, block, numbers, 0, numbers.length - block);
      System.arraycopy(first, 0, numbers, numbers.length - block, block);
    }
  }

  /** An owner may not send its total instead of its blocks: that is another order, too. */
  @Test
  void totalsOfOwnersHaveOtherBits() throws InterruptedException {
    int rows = 16;
    double[] x = doubles(rows * 8192, 0);
    double[] whole = new double[rows];
    RmsNorm norm = RmsNorm.builder(8192).build();
    norm.apply(Rows.of(x, 8192), Rows.of(new double[x.length], 8192), whole);
    assertThat(rstd(norm, x, rows, NO_FAULT)).isEqualTo(whole);
    double[] ofTotals = rstd(norm, x, rows, numbers -> mergeBlocks(numbers, rows));
    assertThat(ofTotals).isNotEqualTo(whole);
    for (int r = 0; r < rows; r++) {
      assertThat(ofTotals[r]).isCloseTo(whole[r], org.assertj.core.data.Offset.offset(1e-12));
    }
  }

  /** Adds the four blocks of each of two owners, and leaves zeros in three of them. */
  private static void mergeBlocks(double[] numbers, int rows) {
    int block = rows * 32;
    for (int b = 0; b < 8; b++) {
      for (int i = 0; b % 4 > 0 && i < block; i++) {
        numbers[b / 4 * 4 * block + i] += numbers[b * block + i];
        numbers[b * block + i] = 0;
      }
    }
  }

  private static double[] rstd(Norm norm, double[] x, int rows, Consumer<double[]> change)
      throws InterruptedException {
    Owners owners = new Owners(2, change);
    Saved saved = new Saved(Keep.INPUT, rows);
    Saved other = new Saved(Keep.INPUT, rows);
    owners.run(
        owner -> {
          Rows own = Rows.of(x, owner * 4096, rows, 4096, 8192);
          Rows y = Rows.of(new double[rows * 4096], 4096);
          NormShard shard = norm.shard(owner * 4096, (owner + 1) * 4096);
          shard.apply(own, y, owner == 0 ? saved : other, owners.of(owner));
        });
    assertThat(saved.rstd()).isEqualTo(other.rstd());
    return saved.rstd();
  }

  private static double[] doubles(int n, double mean) {
    SplittableRandom random = new SplittableRandom(3);
    return random.doubles(n, mean - 1, mean + 1).toArray();
  }

  /** One exchange for the sums, one for the first elements, one more for each row out of range. */
  @ParameterizedTest
  @CsvSource({
    "rmsnorm, 3000, 1, 1",
    "layernorm, 3000, 1, 2",
    "layernorm, 1100000, 1, 3",
    "l2, 3000, 1, 1",
    "rmsnorm, 3000, 1e200, 4",
    "rmsnorm, 3000, 1e-300, 4",
    "layernorm, 3000, 1e200, 5",
    "layernorm, 1100000, 1e200, 9"
  })
  void exchangesAsOftenAsThePageSays(String norm, int width, double scale, int exchanges)
      throws InterruptedException {
    int rows = 3;
    double[] x = Arrays.stream(doubles(rows * width, 0.5)).map(v -> v * scale).toArray();
    Norm whole = NormSpec.parse(norm).withEpsilon(0).builder(width).build();
    double[] wanted = new double[x.length];
    whole.apply(Rows.of(x, whole.width()), Rows.of(wanted, whole.width()));
    assertThat(wanted[5]).isNotNaN();
    Owners owners = new Owners(2, NO_FAULT);
    int cut = 2048;
    double[] y = new double[x.length];
    owners.run(
        owner -> {
          int from = owner == 0 ? 0 : cut;
          int to = owner == 0 ? cut : width;
          NormShard shard = whole.shard(from, to);
          Rows in = Rows.of(x, from, rows, to - from, width);
          shard.apply(in, Rows.of(y, from, rows, to - from, width), owners.of(owner));
        });
    assertThat(y).isEqualTo(wanted);
    assertThat(owners.exchanges()).isEqualTo(exchanges);
  }

  @Test
  void ownersWithoutRowsExchangeNothing() {
    NormShard shard = RmsNorm.builder(2048).build().shard(1024, 2048);
    Rows none = Rows.of(new float[0], 1024);
    Saved saved = new Saved(Keep.INPUT, 0);
    float[] dgain = new float[1024];
    Arrays.fill(dgain, 5);
    SumExchange refuses =
        (numbers, from, to) -> {
          throw new AssertionError("an exchange");
        };
    shard.apply(none, none, saved, refuses);
    shard.backward(none, saved, none, ParameterGradients.assigned(dgain, null), refuses);
    assertThat(dgain).containsOnly(0);
  }

  /** Some orders round the sum of gain and offset to the type of the row. */
  @ParameterizedTest
  @EnumSource(CastOrder.class)
  void haveTheGainOfWholeRows(CastOrder order) {
    for (ElementType type : new ElementType[] {ElementType.FLOAT16, ElementType.BFLOAT16}) {
      for (double offset : order == CastOrder.T5 ? new double[] {0} : new double[] {0, 1}) {
        float[] gain = new float[2048];
        MemorySegment x = MemorySegment.ofArray(new short[2 * 2048]);
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 2 * 2048; i++) {
          gain[i % 2048] = (float) random.nextDouble(-1, 1);
          type.set(x, i, random.nextDouble(-2, 2));
        }
        short[] wanted = new short[2 * 2048];
        short[] found = new short[2 * 2048];
        Rows rows = Rows.of(x, type, 2, 2048);
        RmsNorm norm = RmsNorm.builder(2048).castOrder(order).gainOffset(offset).gain(gain).build();
        norm.apply(rows, Rows.of(MemorySegment.ofArray(wanted), type, 2, 2048));
        Rows y = Rows.of(MemorySegment.ofArray(found), type, 2, 2048);
        norm.shard(0, 2048).apply(rows, y, (numbers, from, to) -> {});
        assertThat(found).as("%s, offset %s", type, offset).isEqualTo(wanted);
      }
    }
  }

  @Test
  void anExchangeThatFailsLeavesTheOutputOfRowsInRange() {
    LayerNorm norm = LayerNorm.builder(2048).build();
    NormShard shard = norm.shard(0, 1024);
    float[] residual = new float[1024];
    float[] y = new float[1024];
    Rows x = Rows.of(new float[1024], 1024);
    Saved saved = new Saved(Keep.INPUT, 1);
    SumExchange fails =
        (numbers, from, to) -> {
          Arrays.fill(numbers, 1);
          throw new IllegalStateException("no connection");
        };
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(
            () -> shard.addAndApply(x, Rows.of(residual, 1024), Rows.of(y, 1024), saved, fails))
        .withMessage("no connection");
    assertThat(residual).containsOnly(0);
    assertThat(y).containsOnly(0);
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(() -> shard.backward(x, saved, Rows.of(y, 1024), null, fails))
        .withMessage("saved is empty: there has been no forward pass with it");
  }
}
