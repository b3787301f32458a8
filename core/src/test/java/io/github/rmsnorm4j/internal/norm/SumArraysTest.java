package io.github.rmsnorm4j.internal.norm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrays kept from call to call are long enough, belong to one call, and are not too many. */
class SumArraysTest {
  private static final long LIMIT = 1 << 16;

  private final SumArrays arrays = new SumArrays(LIMIT);

  @ParameterizedTest
  @ValueSource(ints = {1, 63, 64, 65, 1000, 1024, 1025, (1 << 18) - 1, 1 << 18, (1 << 18) + 1})
  void areAtLeastAsLongAsTheRows(int width) {
    float[] floats = (float[]) arrays.take(width, false);
    double[] doubles = (double[]) arrays.take(width, true);
    assertThat(floats.length).isBetween(width, Math.max(64, 2 * width));
    assertThat(doubles.length).isBetween(width, Math.max(64, 2 * width));
    assertThat(SumArrays.bytes(width, false)).isEqualTo(4L * floats.length);
    assertThat(SumArrays.bytes(width, true)).isEqualTo(8L * doubles.length);
  }

  @Test
  void areTakenAgainAndByOneCallAlone() {
    Object first = arrays.take(3000, false);
    arrays.giveBack(first);
    assertThat(arrays.bytesKept()).isEqualTo(4 * 4096);
    assertThat(arrays.take(4000, false)).isSameAs(first);
    assertThat(arrays.bytesKept()).isZero();
    assertThat(arrays.take(4000, false)).isNotSameAs(first);
  }

  /** A call that needs more than there is room for has to allocate the rest alone. */
  @Test
  void asManyAsThereIsRoomForAreKept() {
    int room = (int) (LIMIT / (4 * 1024));
    List<Object> taken = take(room + 3, 1024, false);
    taken.forEach(arrays::giveBack);
    assertThat(arrays.bytesKept()).isEqualTo(LIMIT);
    assertThat(take(room, 1024, false)).isSubsetOf(taken);
    assertThat(arrays.bytesKept()).isZero();
  }

  /** The norm may be no more that they were for. */
  @Test
  void thoseOfOtherLengthsMakeRoom() {
    take(16, 1024, false).forEach(arrays::giveBack);
    List<Object> wide = take(3, 2048, true);
    wide.forEach(arrays::giveBack);
    assertThat(arrays.bytesKept()).as("no more go than have to").isEqualTo(LIMIT);
    assertThat(take(3, 2048, true)).containsExactlyInAnyOrderElementsOf(wide);
    assertThat(arrays.bytesKept()).isEqualTo(LIMIT - 3 * 8 * 2048);
  }

  @Test
  void oneThatIsLongerThanTheRoomIsLetGo() {
    take(2, 1024, false).forEach(arrays::giveBack);
    arrays.giveBack(arrays.take((int) LIMIT, false));
    assertThat(arrays.bytesKept()).isZero();
  }

  private List<Object> take(int count, int width, boolean float64) {
    return IntStream.range(0, count).mapToObj(k -> arrays.take(width, float64)).toList();
  }
}
