package io.github.rmsnorm4j.internal.norm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrays kept from call to call: long enough, nobody else's, and not too many. */
class SumArraysTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 63, 64, 65, 1000, 1024, 1025, (1 << 18) - 1, 1 << 18, (1 << 18) + 1})
  void areAtLeastAsLongAsTheRows(int width) {
    float[] floats = (float[]) SumArrays.take(width, false);
    double[] doubles = (double[]) SumArrays.take(width, true);
    assertThat(floats.length).isBetween(width, Math.max(64, 2 * width));
    assertThat(doubles.length).isBetween(width, Math.max(64, 2 * width));
    SumArrays.giveBack(floats);
    SumArrays.giveBack(doubles);
  }

  @Test
  void areTakenAgainAndByOneCallAlone() {
    Object first = SumArrays.take(3000, false);
    SumArrays.giveBack(first);
    assertThat(SumArrays.take(4000, false)).isSameAs(first);
    assertThat(SumArrays.take(4000, false)).isNotSameAs(first);
  }

  @Test
  void doNotPileUp() {
    List<Object> taken = new ArrayList<>();
    for (int width = 1; width <= 1 << 19; width *= 2) {
      for (int i = 0; i < 40; i++) {
        taken.add(SumArrays.take(width, false));
        taken.add(SumArrays.take(width, true));
      }
    }
    long most = 0;
    for (Object array : taken) {
      SumArrays.giveBack(array);
      most = Math.max(most, SumArrays.bytesKept());
    }
    assertThat(most).isBetween(SumArrays.MAX_BYTES / 2, SumArrays.MAX_BYTES);
    Object last = SumArrays.take(1 << 18, true);
    assertThat(taken).as("what came last is kept").contains(last);
  }
}
