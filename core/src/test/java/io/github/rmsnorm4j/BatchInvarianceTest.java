package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A row's result is the row's alone: not its batch's, its place's in the batch, or its thread's.
 */
class BatchInvarianceTest {
  private static final int ROWS = 1100;
  private static final int WIDTH = 1000;

  private static Norm norm(boolean centred, int width, int threads) {
    float[] gain = new float[width];
    for (int i = 0; i < width; i++) {
      gain[i] = 1 + i / 1024f;
    }
    return centred
        ? LayerNorm.builder(width).gain(gain).bias(gain).threads(threads).build()
        : RmsNorm.builder(width).gain(gain).threads(threads).build();
  }

  /** Enough rows that eight threads get their MiB each. */
  private static Block rows(Arena arena, Place place, ElementType type) {
    RandomRows source = new RandomRows(new SplittableRandom(5));
    Block block = new Block(arena, place, type, ROWS, WIDTH, WIDTH + 3);
    for (int r = 0; r < ROWS; r++) {
      block.put(r, source.any(type, WIDTH));
    }
    return block;
  }

  private static void assertSameRow(Block actual, int row, Block expected, int expectedRow) {
    assertThat(actual.bits(row)).as("row %d", row).isEqualTo(expected.bits(expectedRow));
  }

  @ParameterizedTest
  @EnumSource
  void threadsChangeNothing(ElementType type) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment values = rows(arena, Place.NATIVE, type).rows.segment();
      for (Place place : new Place[] {Place.ARRAY, Place.NATIVE, Place.MAPPED}) {
        Block x = new Block(arena, place, type, ROWS, WIDTH, WIDTH + 3);
        x.rows.segment().copyFrom(values);
        for (boolean centred : new boolean[] {false, true}) {
          Block one = new Block(arena, place, type, ROWS, WIDTH, WIDTH);
          norm(centred, WIDTH, 1).apply(x.rows, one.rows);
          for (int threads : new int[] {2, 3, 8}) {
            Block many = new Block(arena, place, type, ROWS, WIDTH, WIDTH);
            norm(centred, WIDTH, threads).apply(x.rows, many.rows);
            assertSameRows(many, one);
          }
        }
      }
    }
  }

  private static void assertSameRows(Block actual, Block expected) {
    long bytes = (long) WIDTH * actual.rows.type().bytes();
    for (int r = 0; r < ROWS; r++) {
      MemorySegment row = actual.rows.segment().asSlice(r * bytes, bytes);
      if (row.mismatch(expected.rows.segment().asSlice(r * bytes, bytes)) >= 0) {
        assertSameRow(actual, r, expected, r); // NaN is NaN, though its pattern may differ.
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRowAloneIsTheRowInABatch(boolean centred) {
    try (Arena arena = Arena.ofShared()) {
      Block x = rows(arena, Place.NATIVE, ElementType.FLOAT32);
      Block batch = new Block(arena, Place.NATIVE, ElementType.FLOAT32, ROWS, WIDTH, WIDTH);
      Block alone = new Block(arena, Place.ARRAY, ElementType.FLOAT32, 1, WIDTH, WIDTH);
      Norm norm = norm(centred, WIDTH, 2);
      norm.apply(x.rows, batch.rows);
      for (int r = 0; r < ROWS; r += 7) {
        Rows row = Rows.of(x.rows.segment().asSlice(r * (WIDTH + 3) * 4L), x.rows.type(), 1, WIDTH);
        norm.apply(row, alone.rows);
        assertSameRow(alone, 0, batch, r);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 32, 100, 256, 257, 1000})
  void permutedRowsGivePermutedResults(int width) {
    SplittableRandom random = new SplittableRandom(width);
    RandomRows source = new RandomRows(random);
    int rows = 211;
    int[] order = new int[rows];
    float[] x = new float[rows * width];
    float[] permuted = new float[rows * width];
    for (int r = 0; r < rows; r++) {
      order[r] = r * 37 % rows;
      double[] row = source.any(ElementType.FLOAT32, width);
      for (int i = 0; i < width; i++) {
        x[r * width + i] = (float) row[i];
        permuted[order[r] * width + i] = (float) row[i];
      }
    }
    for (boolean centred : new boolean[] {false, true}) {
      float[] y = new float[x.length];
      norm(centred, width, 1).apply(x, y);
      float[] permutedY = new float[x.length];
      norm(centred, width, 1).apply(permuted, permutedY);
      for (int r = 0; r < rows; r++) {
        for (int i = 0; i < width; i++) {
          float there = permutedY[order[r] * width + i];
          if (Float.floatToIntBits(there) != Float.floatToIntBits(y[r * width + i])) {
            assertThat((Float) there)
                .as("row %d, element %d", r, i)
                .isEqualTo((Float) y[r * width + i]);
          }
        }
      }
    }
  }

  @Test
  void aSliceOfALargerArrayIsTheSliceAlone() {
    float[] x = new float[5 * WIDTH];
    float[] y = new float[5 * WIDTH];
    for (int i = 0; i < x.length; i++) {
      x[i] = i % 17 - 8;
    }
    Norm norm = norm(false, WIDTH, 1);
    norm.apply(x, WIDTH + 1, y, 3 * WIDTH, 2);
    float[] slice = new float[2 * WIDTH];
    System.arraycopy(x, WIDTH + 1, slice, 0, slice.length);
    float[] expected = new float[5 * WIDTH];
    norm.apply(slice, slice);
    System.arraycopy(slice, 0, expected, 3 * WIDTH, slice.length);
    assertThat(y).isEqualTo(expected);
  }
}
