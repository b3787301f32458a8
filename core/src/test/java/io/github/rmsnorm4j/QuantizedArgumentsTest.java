package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Bad quantised rows are refused in one line, before anything is written. */
class QuantizedArgumentsTest {
  private static final QuantizedType INT8 = QuantizedType.int8(32);
  private static final RmsNorm NORM = RmsNorm.builder(64).build();

  private static void refuses(ThrowingCallable call, String message) {
    assertThatThrownBy(call).hasMessage(message).hasMessageNotContaining("\n");
  }

  private static QuantizedRows ofBlocks(int rows, int width) {
    return QuantizedRows.of(new byte[rows * width / 32 * 34], QuantizedType.Q8_0, width);
  }

  @Test
  void shapesOfTheView() {
    refuses(
        () -> QuantizedRows.of(new byte[33], QuantizedType.Q8_0, 33),
        "width is 33, for q8_0 it must be a multiple of 32");
    refuses(
        () -> QuantizedRows.of(new byte[292], QuantizedType.Q8_K, 128),
        "width is 128, for q8_k it must be a multiple of 256");
    refuses(
        () -> QuantizedRows.of(new byte[0], QuantizedType.Q8_0, 0),
        "width is 0, it must be at least 1");
    refuses(
        () -> QuantizedRows.of(MemorySegment.NULL, QuantizedType.Q8_0, -1, 32),
        "rows is -1, it must be at least 0");
    refuses(
        () -> QuantizedRows.of(new byte[35], QuantizedType.Q8_0, 32),
        "35 bytes are not a whole number of rows of 34 bytes");
    refuses(
        () -> QuantizedRows.of(new byte[64], new float[1], INT8, 64),
        "scales of 1 rows, 2 scales each at a stride of 2, need 8 bytes, there are 4");
    MemorySegment memory = MemorySegment.ofArray(new byte[64]);
    refuses(
        () -> QuantizedRows.of(memory, QuantizedType.Q8_0, 2, 32),
        "codes of 2 rows, 34 bytes each at a stride of 34, need 68 bytes, there are 64");
    refuses(
        () -> QuantizedRows.of(memory, 33, QuantizedType.Q8_0, 1, 32),
        "the stride of codes is 33, it must be at least the 34 bytes of a row");
    refuses(
        () -> QuantizedRows.of(memory, Long.MAX_VALUE / 2, QuantizedType.Q8_0, 4, 32),
        "codes of 4 rows, 34 bytes each at a stride of 4611686018427387903, need over 2^63 bytes,"
            + " there are 64");
    refuses(
        () -> QuantizedRows.of(memory, INT8, 1, 32),
        "type is int8:32, it has scales in memory of their own");
    refuses(
        () -> QuantizedRows.of(new byte[34], new float[1], QuantizedType.Q8_0, 32),
        "type is q8_0, it has its scales among the codes: it takes no memory of scales");
    refuses(
        () -> QuantizedRows.of(new byte[512], new float[16], QuantizedType.Q8_0, 512),
        "type is q8_0, it has its scales among the codes: it takes no memory of scales");
    refuses(
        () -> QuantizedRows.of(new byte[512], new float[1], QuantizedType.e4m3Given(), 512),
        "type is f8e4m3:given, it has one scale for all rows: it takes no memory of scales");
    refuses(
        () -> QuantizedRows.of(new byte[68], INT8, 64),
        "type is int8:32, it has scales in memory of their own");
    refuses(
        () -> QuantizedRows.of(memory, QuantizedType.e4m3Given(), 1, 32),
        "type is f8e4m3:given, one scale must be given for it");
    refuses(
        () -> QuantizedRows.of(memory, 1f, QuantizedType.Q8_0, 1, 32),
        "type is q8_0, no scale is given for it");
    refuses(
        () -> QuantizedRows.of(memory, Float.NaN, QuantizedType.e4m3Given(), 1, 32),
        "scale is NaN, it must be a normal float32 number above 0");
    refuses(
        () -> QuantizedRows.of(memory, QuantizedType.Q8_0, 1, Integer.MAX_VALUE - 31),
        "width is 2147483616, a row of q8_0 may have 2^31 - 1 bytes at most");
    refuses(() -> QuantizedType.int8(48), "block is 48, it may be 32, 64 or 128");
    refuses(
        () -> QuantizedType.ofName("q9"), "type is 'q9', it may be one of " + QuantizedType.all());
    Rows x = Rows.of(new float[128], 64);
    refuses(
        () -> Quantizer.defaults().quantize(x, ofBlocks(2, 64), 0),
        "threads is 0, it must be at least 1");
  }

  @Test
  void memoryThatOverlaps() {
    float[] array = new float[256];
    Arrays.fill(array, 1);
    Rows x = Rows.of(array, 0, 1, 64);
    Rows y = Rows.of(array, 128, 1, 64);
    MemorySegment all = MemorySegment.ofArray(array);
    MemorySegment codes = MemorySegment.ofArray(new byte[64]);
    String ofX = "q overlaps x: each must be memory of its own";
    QuantizedRows atEnd = QuantizedRows.of(all.asSlice(255), QuantizedType.Q8_0, 1, 64);
    refuses(() -> NORM.apply(x, null, atEnd), ofX);
    refuses(() -> Quantizer.defaults().quantize(x, atEnd), ofX);
    QuantizedRows scaleAtEnd = QuantizedRows.of(codes, all.asSlice(252), INT8, 1, 64);
    refuses(() -> NORM.apply(x, null, scaleAtEnd), ofX);
    QuantizedRows own = QuantizedRows.of(all.asSlice(512, 64), all.asSlice(572), INT8, 1, 64);
    String ofScales = "codes of q overlap its scales: each must be memory of its own";
    refuses(() -> NORM.apply(x, null, own), ofScales);
    refuses(() -> Quantizer.defaults().quantize(x, own), ofScales);
    // The first scale is before y, the second one is in it.
    QuantizedRows before = QuantizedRows.of(codes, all.asSlice(508), INT8, 1, 64);
    refuses(() -> NORM.apply(x, y, before), "q overlaps y: each must be memory of its own");
    refuses(() -> before.dequantize(y), "y overlaps q: each must be memory of its own");
    assertThat(array).containsOnly(1);
    NORM.apply(x, null, QuantizedRows.of(all.asSlice(512, 64), all.asSlice(576), INT8, 1, 64));
    assertThat(all.asSlice(512, 64).toArray(ValueLayout.JAVA_BYTE)).containsOnly(127);
    assertThat(array[144]).isEqualTo(array[145]).isBetween(0.007f, 0.008f);
  }

  /** A stride without a next row is not used, and its bytes fit 64 bits. */
  @Test
  void stridesOfOneRow() {
    float[] array = new float[256];
    Rows x = Rows.of(array, 0, 1, 64);
    MemorySegment all = MemorySegment.ofArray(array);
    MemorySegment codes = MemorySegment.ofArray(new byte[64]);
    long most = Long.MAX_VALUE / Float.BYTES;
    for (long stride : new long[] {most, 1L << 60, 1L << 32}) {
      QuantizedRows apart =
          QuantizedRows.of(codes, Long.MAX_VALUE, all.asSlice(256), stride, INT8, 1, 64);
      NORM.apply(x, null, apart);
      assertThat(apart.scaleStride()).isEqualTo(stride);
      QuantizedRows q = QuantizedRows.of(codes, 64, all.asSlice(252), stride, INT8, 1, 64);
      refuses(() -> NORM.apply(x, null, q), "q overlaps x: each must be memory of its own");
      QuantizedRows own =
          QuantizedRows.of(all.asSlice(512), 64, all.asSlice(572), stride, INT8, 1, 64);
      refuses(
          () -> NORM.apply(x, null, own),
          "codes of q overlap its scales: each must be memory of its own");
    }
    for (long stride : new long[] {most + 1, 1L << 62, Long.MAX_VALUE}) {
      refuses(
          () -> QuantizedRows.of(codes, 64, all, stride, INT8, 1, 64),
          "the stride of scales is " + stride + ", it must be at most " + most);
    }
  }

  /** Confined memory is written by the caller's thread alone. */
  @Test
  void confinedMemoryOfManyRows() {
    int rows = 20_000;
    float[] x = new float[rows * 64];
    for (int i = 0; i < x.length; i++) {
      x[i] = i % 97 - 48;
    }
    byte[] wanted = new byte[rows * 2 * 34];
    NORM.apply(Rows.of(x, 64), null, QuantizedRows.of(wanted, QuantizedType.Q8_0, 64));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment blocks = arena.allocate(wanted.length);
      NORM.apply(Rows.of(x, 64), null, QuantizedRows.of(blocks, QuantizedType.Q8_0, rows, 64));
      assertThat(blocks.mismatch(MemorySegment.ofArray(wanted))).isEqualTo(-1);
    }
  }

  @Test
  void noRowsAreNoWork() {
    NORM.apply(Rows.of(new float[0], 64), null, ofBlocks(0, 64));
    Quantizer.defaults().quantize(Rows.of(new float[0], 64), ofBlocks(0, 64));
    ofBlocks(0, 64).dequantize(Rows.of(new float[0], 64));
  }
}
