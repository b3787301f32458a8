package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.ShortBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class RowsTest {
  private static void refused(ThrowingCallable call, String... parts) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(parts)
        .hasMessageNotContaining("\n");
  }

  private static void outOfBounds(ThrowingCallable call, String... parts) {
    assertThatThrownBy(call)
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContainingAll(parts)
        .hasMessageNotContaining("\n");
  }

  private static void shape(Rows rows, ElementType type, long count, int width, long stride) {
    assertThat(rows.type()).isEqualTo(type);
    assertThat(rows.rows()).isEqualTo(count);
    assertThat(rows.width()).isEqualTo(width);
    assertThat(rows.rowStride()).isEqualTo(stride);
    long elements = count == 0 ? 0 : (count - 1) * stride + width;
    assertThat(rows.segment().byteSize()).isEqualTo(elements * type.bytes());
  }

  private static float first(Rows rows) {
    return rows.segment().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0);
  }

  @Test
  void ofArrays() {
    shape(Rows.of(new float[12], 4), FLOAT32, 3, 4, 4);
    shape(Rows.of(new double[12], 4), FLOAT64, 3, 4, 4);
    shape(Rows.of(new short[12], BFLOAT16, 4), BFLOAT16, 3, 4, 4);
    shape(Rows.of(new float[12], 1, 2, 4), FLOAT32, 2, 4, 4);
    shape(Rows.of(new double[12], 1, 2, 4), FLOAT64, 2, 4, 4);
    shape(Rows.of(new float[12], 1, 2, 4, 7), FLOAT32, 2, 4, 7);
    shape(Rows.of(new double[12], 1, 2, 4, 7), FLOAT64, 2, 4, 7);
    shape(Rows.of(new short[12], FLOAT16, 1, 2, 4, 7), FLOAT16, 2, 4, 7);
    shape(Rows.of(new short[12], BFLOAT16, 1, 2, 4), BFLOAT16, 2, 4, 4);
    assertThat(first(Rows.of(new float[] {1, 2, 3, 4}, 1, 1, 2))).isEqualTo(2f);
    double[] doubles = {1, 2, 3, 4};
    Rows.of(doubles, 1, 1, 2).segment().fill((byte) 0);
    assertThat(doubles).containsExactly(1, 0, 0, 4);
  }

  @Test
  void ofSegmentsAndWritesShowThrough() {
    float[] array = new float[12];
    Rows rows = Rows.of(MemorySegment.ofArray(array).asSlice(4), FLOAT32, 2, 4, 6);
    shape(rows, FLOAT32, 2, 4, 6);
    array[1] = 5;
    assertThat(first(rows)).isEqualTo(5f);
    shape(Rows.of(MemorySegment.ofArray(array), FLOAT64, 2, 3), FLOAT64, 2, 3, 3);
  }

  @Test
  void ofWhatRemainsInBuffers() {
    ByteOrder order = ByteOrder.nativeOrder();
    for (boolean direct : new boolean[] {false, true}) {
      ByteBuffer bytes = direct ? ByteBuffer.allocateDirect(96) : ByteBuffer.allocate(96);
      bytes.order(order);
      FloatBuffer floats = bytes.asFloatBuffer();
      for (int i = 0; i < floats.capacity(); i++) {
        floats.put(i, i);
      }
      Rows part = Rows.of(floats.position(3).limit(11), 4);
      shape(part, FLOAT32, 2, 4, 4);
      assertThat(first(part)).isEqualTo(3f);
      assertThat(first(Rows.of(floats.slice().position(2), 2))).isEqualTo(5f);
      shape(Rows.of(bytes.asDoubleBuffer().position(2), 5), FLOAT64, 2, 5, 5);
      shape(Rows.of(bytes.asShortBuffer().limit(9), FLOAT16, 3), FLOAT16, 3, 3, 3);
      Rows odd = Rows.of(bytes.duplicate().position(4).limit(20), FLOAT32, 2);
      shape(odd, FLOAT32, 2, 2, 2);
      assertThat(first(odd)).isEqualTo(1f);
      assertThat(floats.position()).as("the buffer is left alone").isEqualTo(3);
    }
    shape(Rows.of(FloatBuffer.allocate(6), 3), FLOAT32, 2, 3, 3);
    shape(Rows.of(DoubleBuffer.allocate(6), 3), FLOAT64, 2, 3, 3);
    shape(Rows.of(ShortBuffer.allocate(6), BFLOAT16, 3), BFLOAT16, 2, 3, 3);
  }

  @Test
  void aForeignByteOrderIsRefused() {
    ByteOrder foreign =
        ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
            ? ByteOrder.BIG_ENDIAN
            : ByteOrder.LITTLE_ENDIAN;
    ByteBuffer bytes = ByteBuffer.allocate(16).order(foreign);
    String[] parts = {"buffer is " + foreign, "native order, " + ByteOrder.nativeOrder()};
    refused(() -> Rows.of(bytes.asFloatBuffer(), 2), parts);
    refused(() -> Rows.of(bytes.asDoubleBuffer(), 2), parts);
    refused(() -> Rows.of(bytes.asShortBuffer(), FLOAT16, 2), parts);
    shape(Rows.of(bytes, FLOAT32, 2), FLOAT32, 2, 2, 2);
  }

  @Test
  void bytesThatAreNotWholeElementsAreRefused() {
    refused(
        () -> Rows.of(ByteBuffer.allocate(7), FLOAT16, 1), "buffer has 7 bytes left", "float16");
    refused(() -> Rows.of(ByteBuffer.allocate(10), FLOAT32, 1), "buffer has 10 bytes", "float32");
    refused(() -> Rows.of(ByteBuffer.allocate(12), FLOAT32, 2), "3 elements", "width 2");
  }

  @Test
  void widths() {
    for (int width : new int[] {0, -1, Integer.MIN_VALUE}) {
      String part = "width is " + width + ", it must be at least 1";
      refused(() -> Rows.of(new float[4], width), part);
      refused(() -> Rows.of(new double[4], width), part);
      refused(() -> Rows.of(new short[4], FLOAT16, width), part);
      refused(() -> Rows.of(new float[4], 0, 1, width), part);
      refused(() -> Rows.of(FloatBuffer.allocate(4), width), part);
      refused(() -> Rows.of(MemorySegment.ofArray(new byte[8]), FLOAT32, 1, width), part);
    }
    refused(() -> Rows.of(new float[5], 2), "5 elements", "width 2");
    refused(() -> Rows.of(new double[5], 6), "5 elements", "width 6");
    refused(() -> Rows.of(ShortBuffer.allocate(5), FLOAT16, 2), "5 elements", "width 2");
  }

  @Test
  void rowsStridesAndOffsets() {
    refused(() -> Rows.of(new float[4], 0, -1, 2), "rows is -1, it must be at least 0");
    refused(() -> Rows.of(new float[9], 0, 2, 3, 2), "rowStride is 2", "the width, 3");
    refused(() -> Rows.of(new double[9], 0, 2, 3, -5), "rowStride is -5", "the width, 3");
    outOfBounds(() -> Rows.of(new float[4], -1, 1, 2), "offset is -1", "length, 4");
    outOfBounds(() -> Rows.of(new double[4], 5, 0, 2), "offset is 5", "length, 4");
    outOfBounds(() -> Rows.of(new short[4], FLOAT16, 5, 0, 2, 2), "offset is 5", "length, 4");
    outOfBounds(() -> Rows.of(new float[4], 1, 2, 2), "2 rows of 2 float32", "need 16", "are 12");
    outOfBounds(() -> Rows.of(new short[9], FLOAT16, 0, 3, 2, 4), "stride of 4", "20", "18");
    shape(Rows.of(new float[8], 0, 2, 3, 5), FLOAT32, 2, 3, 5);
    outOfBounds(() -> Rows.of(new float[7], 0, 2, 3, 5), "need 32 bytes, there are 28");
  }

  @Test
  void types() {
    for (ElementType wide : new ElementType[] {FLOAT32, FLOAT64}) {
      String[] parts = {"type is " + wide, "float16 or bfloat16"};
      refused(() -> Rows.of(new short[4], wide, 2), parts);
      refused(() -> Rows.of(new short[4], wide, 0, 1, 2, 2), parts);
      refused(() -> Rows.of(ShortBuffer.allocate(4), wide, 2), parts);
    }
    MemorySegment memory = MemorySegment.ofArray(new byte[8]);
    assertThatThrownBy(() -> Rows.of(memory, null, 1, 1))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("type is null");
  }

  @Test
  void whatIsNullIsNamed() {
    isNull(() -> Rows.of((float[]) null, 2), "array is null");
    isNull(() -> Rows.of((float[]) null, 0, 1, 2), "array is null");
    isNull(() -> Rows.of((double[]) null, 2), "array is null");
    isNull(() -> Rows.of((double[]) null, 0, 1, 2), "array is null");
    isNull(() -> Rows.of((short[]) null, FLOAT16, 2), "array is null");
    isNull(() -> Rows.of((short[]) null, FLOAT16, 0, 1, 2), "array is null");
    isNull(() -> Rows.of((MemorySegment) null, FLOAT16, 1, 2), "segment is null");
    isNull(() -> Rows.of((FloatBuffer) null, 2), "buffer is null");
    isNull(() -> Rows.of((DoubleBuffer) null, 2), "buffer is null");
    isNull(() -> Rows.of((ShortBuffer) null, FLOAT16, 2), "buffer is null");
    isNull(() -> Rows.of((ByteBuffer) null, FLOAT16, 2), "buffer is null");
  }

  private static void isNull(ThrowingCallable call, String message) {
    assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(message);
  }

  @Test
  void sizesNearTheLargestLong() {
    MemorySegment memory = MemorySegment.ofArray(new byte[64]);
    long max = Long.MAX_VALUE;
    long[][] shapes = {
      {max, 1}, {2, max}, {max, max}, {1L << 32, 1L << 32}, {3, 1L << 61}, {max / 4 + 2, 1}
    };
    for (long[] shape : shapes) {
      outOfBounds(
          () -> Rows.of(memory, FLOAT32, shape[0], 1, shape[1]),
          shape[0] + " rows",
          "stride of " + shape[1],
          "need over 2^63 bytes, there are 64");
    }
    outOfBounds(() -> Rows.of(memory, FLOAT32, 2, 1, 1L << 60), "need " + ((1L << 62) + 4));
    shape(Rows.of(memory, FLOAT32, 1, 2, max), FLOAT32, 1, 2, max);
    shape(Rows.of(memory, FLOAT32, 0, 2, max), FLOAT32, 0, 2, max);
  }

  @Test
  void noRows() {
    shape(Rows.of(new float[0], 7), FLOAT32, 0, 7, 7);
    shape(Rows.of(new double[3], 3, 0, 7), FLOAT64, 0, 7, 7);
    shape(Rows.of(ByteBuffer.allocate(0), BFLOAT16, 2), BFLOAT16, 0, 2, 2);
  }

  @Test
  void text() {
    assertThat(Rows.of(new float[12], 4)).hasToString("3 x 4 float32");
    assertThat(Rows.of(new short[12], BFLOAT16, 0, 2, 4, 6))
        .hasToString("2 x 4 bfloat16 at a stride of 6");
  }
}
