package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.FloatBuffer;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows that are only read may be in memory that the caller must not write. */
class ReadOnlyRowsTest {
  private static final int ROWS = 2;

  @ParameterizedTest
  @CsvSource({"64, 64", "64, 40", "4096, 4096", "4096, 1000", "70000, 70000", "70000, 66000"})
  void haveTheBitsOfOthers(int width, int part) {
    float[] numbers = new float[ROWS * width];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = i % 13 - 5.3f;
    }
    MemorySegment array = MemorySegment.ofArray(numbers);
    Rows writable = Rows.of(array, ElementType.FLOAT32, ROWS, width);
    MemorySegment there = Arena.ofAuto().allocate(array.byteSize(), 4).copyFrom(array);
    List<Rows> readOnly =
        List.of(
            Rows.of(array.asReadOnly(), ElementType.FLOAT32, ROWS, width),
            Rows.of(there.asReadOnly(), ElementType.FLOAT32, ROWS, width),
            Rows.of(FloatBuffer.wrap(numbers).asReadOnlyBuffer(), width));
    for (Backend backend : Backends.of((long) ROWS * width)) {
      RmsNorm norm = RmsNorm.builder(width).part(part).threads(1).backend(backend).build();
      float[][] wanted = both(norm, writable);
      for (Rows rows : readOnly) {
        assertThat(both(norm, rows)).as("%s, %s", backend, rows.segment()).isEqualTo(wanted);
      }
    }
  }

  /** The output, and the gradient of the input from the same rows. */
  private static float[][] both(RmsNorm norm, Rows x) {
    float[] y = new float[ROWS * norm.width()];
    float[] dx = new float[y.length];
    Saved saved = new Saved(Keep.INPUT, ROWS);
    norm.apply(x, Rows.of(y, norm.width()), saved);
    norm.backward(x, saved, Rows.of(dx, norm.width()), null);
    return new float[][] {y, dx};
  }
}
