package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One rounding from float64 to the stored type, and what is said about it. */
class RoundedTensorTest {
  @TempDir private Path folder;

  private RoundingCount count;
  private int models;

  private ByteBuffer stored(Dtype dtype, double... exact) throws IOException {
    Path path = folder.resolve("m" + models++);
    TestModel model = TestModel.gpt2(TestModel.WIDTH).put("x", exact, exact.length);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (TensorFile file = TensorFile.open(model.write(path, Dtype.F64, 1))) {
      EditedTensor edited =
          new EditedTensor(file, new Edit("x", List.of()), new StoredVectors(file), _ -> {});
      count =
          new RoundedTensor(new Tensor("x", dtype, List.of((long) exact.length)))
              .write(edited, piece -> bytes.writeBytes(piece.toArray(ValueLayout.JAVA_BYTE)));
    }
    return ByteBuffer.wrap(bytes.toByteArray()).order(ByteOrder.nativeOrder());
  }

  /** Just above the middle of 1 and the next bfloat16: float32 would make it the middle first. */
  @Test
  void bfloat16IsRoundedOnce() throws IOException {
    double above = 1 + 0x1p-8 + 0x1p-40;
    ByteBuffer stored = stored(Dtype.BF16, above, 1 + 0x1p-8, 1 + 3 * 0x1p-8, -above, 1.5);
    assertThat(stored.getShort()).isEqualTo((short) 0x3f81);
    assertThat(stored.getShort()).isEqualTo((short) 0x3f80);
    assertThat(stored.getShort()).isEqualTo((short) 0x3f82);
    assertThat(stored.getShort()).isEqualTo((short) 0xbf81);
    assertThat(stored.getShort()).isEqualTo((short) 0x3fc0);
    assertThat(count.computed()).isEqualTo(5);
    assertThat(count.changed()).isEqualTo(4);
    assertThat(count.largest()).isEqualTo(0x1p-8 / (1 + 0x1p-8));
  }

  @Test
  void float16IsRoundedOnceAlsoBelowTheNormalNumbers() throws IOException {
    ByteBuffer stored =
        stored(Dtype.F16, 1 + 0x1p-11 + 0x1p-40, 0x1p-24, 0x1.8p-25, 0x1p-25, 65504);
    assertThat(stored.getShort()).isEqualTo((short) 0x3c01);
    assertThat(stored.getShort()).isEqualTo((short) 1);
    assertThat(stored.getShort()).isEqualTo((short) 1);
    assertThat(stored.getShort()).isEqualTo((short) 0);
    assertThat(stored.getShort()).isEqualTo((short) 0x7bff);
    assertThat(count.changed()).isEqualTo(3);
    assertThat(count.small()).as("one number became 0").isEqualTo(2);
    assertThat(count.largest()).isLessThan(0x1p-11);
  }

  @Test
  void wideTypesKeepTheirNumbers() throws IOException {
    assertThat(stored(Dtype.F64, Math.PI).getDouble()).isEqualTo(Math.PI);
    assertThat(count).isEqualTo(new RoundingCount(1, 0, 0, 0));
    assertThat(stored(Dtype.F32, Math.PI).getFloat()).isEqualTo((float) Math.PI);
    assertThat(count.changed()).isEqualTo(1);
  }

  @Test
  void aNumberThatTheTypeDoesNotHoldIsRefused() {
    assertThatThrownBy(() -> stored(Dtype.F16, 1, 2, 65520))
        .isInstanceOf(RefusedException.class)
        .hasMessage("x: element 2 becomes 65520.0, which float16 does not hold");
  }

  @ParameterizedTest
  @ValueSource(doubles = {Double.NaN, Double.NEGATIVE_INFINITY})
  void aNumberThatIsNotFiniteIsRefused(double number) {
    assertThatThrownBy(() -> stored(Dtype.F32, 1, number))
        .isInstanceOf(RefusedException.class)
        .hasMessage("x: element 1 is %s, it must be finite to be computed with".formatted(number));
  }
}
