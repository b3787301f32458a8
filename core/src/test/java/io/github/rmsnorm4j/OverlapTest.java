package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Which rows may share memory; the oracle is the set of bytes of every row. */
class OverlapTest {
  private static final int BYTES = 240;

  /** A view and the bytes of its elements, by their offset in the memory drawn from. */
  private record View(Rows rows, long offset) {
    BitSet bytes() {
      BitSet bytes = new BitSet();
      int size = rows.type().bytes();
      for (int r = 0; r < rows.rows(); r++) {
        int start = (int) (offset + r * rows.rowStride() * size);
        bytes.set(start, start + rows.width() * size);
      }
      return bytes;
    }

    boolean sharesBytesWith(View other) {
      return bytes().intersects(other.bytes());
    }

    /** Element for element at the same place. */
    boolean isSameAs(View other) {
      boolean sameStride = rows.rows() < 2 || rows.rowStride() == other.rows.rowStride();
      return offset == other.offset
          && rows.type().bytes() == other.rows.type().bytes()
          && sameStride;
    }

    @Override
    public String toString() {
      return rows + " at byte " + offset;
    }
  }

  private static View view(SplittableRandom random, MemorySegment memory, int rows, int width) {
    ElementType type = ElementType.values()[random.nextInt(4)];
    long stride = random.nextInt(3) == 0 ? width : width + random.nextInt(0, 9);
    long span = rows == 0 ? 0 : ((rows - 1) * stride + width) * type.bytes();
    if (span > memory.byteSize()) {
      return view(random, memory, rows, width);
    }
    long offset = random.nextLong(memory.byteSize() - span + 1);
    return new View(Rows.of(memory.asSlice(offset), type, rows, width, stride), offset);
  }

  @Test
  void exactForAnyTwoViews() {
    int overlapping = 0;
    int apart = 0;
    MemorySegment heap = MemorySegment.ofArray(new byte[BYTES]);
    MemorySegment natural = Arena.ofAuto().allocate(BYTES);
    for (long seed = 0; seed < 60_000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      MemorySegment memory = random.nextBoolean() ? heap : natural;
      View x = view(random, memory, random.nextInt(0, 6), random.nextInt(1, 5));
      View y = view(random, memory, random.nextInt(0, 6), random.nextInt(1, 5));
      boolean expected = x.sharesBytesWith(y);
      assertThat(Overlap.any(x.rows, y.rows)).as("seed %d: %s, %s", seed, x, y).isEqualTo(expected);
      overlapping += expected ? 1 : 0;
      apart += expected ? 0 : 1;
    }
    assertThat(overlapping).isGreaterThan(10_000);
    assertThat(apart).isGreaterThan(10_000);
  }

  @Test
  void aNormRefusesExactlyTheViewsThatShareAndAreNotTheSame() {
    int refused = 0;
    int inPlace = 0;
    for (long seed = 0; seed < 20_000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      MemorySegment memory = MemorySegment.ofArray(new byte[BYTES]);
      int rows = random.nextInt(0, 5);
      int width = random.nextInt(1, 5);
      View x = view(random, memory, rows, width);
      View y = random.nextInt(4) == 0 ? x : view(random, memory, rows, width);
      RmsNorm norm = RmsNorm.builder(width).build();
      boolean shares = x.sharesBytesWith(y);
      if (shares && !x.isSameAs(y)) {
        assertThatThrownBy(() -> norm.apply(x.rows, y.rows))
            .as("seed %d: %s, %s", seed, x, y)
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("y overlaps x: they must be the same rows, or share no memory");
        refused++;
      } else {
        norm.apply(x.rows, y.rows);
        inPlace += shares ? 1 : 0;
      }
    }
    assertThat(refused).isGreaterThan(3_000);
    assertThat(inPlace).isGreaterThan(2_000);
  }

  @Test
  void interleavedQueryKeyAndValue() {
    int d = 8;
    int tokens = 5;
    float[] fused = new float[3 * d * tokens];
    for (int i = 0; i < fused.length; i++) {
      fused[i] = i + 1;
    }
    float[] before = fused.clone();
    RmsNorm norm = RmsNorm.builder(d).build();
    Rows query = Rows.of(fused, 0, tokens, d, 3 * d);
    Rows value = Rows.of(fused, 2 * d, tokens, d, 3 * d);
    norm.apply(query, value);
    for (int t = 0; t < tokens; t++) {
      float[] expected = new float[d];
      norm.apply(before, 3 * d * t, expected, 0, 1);
      for (int i = 0; i < d; i++) {
        assertThat(fused[3 * d * t + i]).isEqualTo(before[3 * d * t + i]);
        assertThat(fused[3 * d * t + d + i]).isEqualTo(before[3 * d * t + d + i]);
        assertThat(fused[3 * d * t + 2 * d + i]).isEqualTo(expected[i]);
      }
    }
  }
}
