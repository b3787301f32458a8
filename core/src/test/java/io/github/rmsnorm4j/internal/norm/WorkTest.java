package io.github.rmsnorm4j.internal.norm;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkTest {
  /** A call that begins before the end of the start is covered whole. */
  @ParameterizedTest
  @CsvSource({"false, 4194304", "true, 67108864"})
  void coversTheFirstElements(boolean loops, long most) {
    Work work = new Work();
    assertThat(work.isPlain(1, loops)).isTrue();
    assertThat(work.isPlain(most - 2, loops)).isTrue();
    assertThat(work.isPlain(9, loops)).isTrue();
    assertThat(work.isPlain(1, loops)).isFalse();
    assertThat(work.pays(1)).isTrue();
  }

  /** A longer call has a kernel at once, and so have those after it. */
  @ParameterizedTest
  @CsvSource({"false, 4194304", "true, 67108864"})
  void aLongCallEndsTheStart(boolean loops, long most) {
    Work work = new Work();
    assertThat(work.isPlain(most + 1, loops)).isFalse();
    assertThat(work.isPlain(1, loops)).isFalse();
    assertThat(new Work().isPlain(most, loops)).isTrue();
  }

  @Test
  void paysForALongCallAlone() {
    assertThat(new Work().pays(4_194_304)).isFalse();
    assertThat(new Work().pays(4_194_305)).isTrue();
  }

  @Test
  void theFirstTierHasElementsOfItsOwn() {
    Work work = new Work();
    assertThat(work.isOfFirstTier(499_999_999)).isTrue();
    assertThat(work.isPlain(1, false)).isTrue();
    assertThat(work.isOfFirstTier(1_000)).isTrue();
    assertThat(work.isOfFirstTier(1)).isFalse();
    work.end();
    assertThat(work.isPlain(1, true)).isFalse();
  }

  @Test
  void eachNormAndDirectionHasItsOwn() {
    for (NormSpec.Kind kind : NormSpec.Kind.values()) {
      assertThat(Work.forward(kind)).isSameAs(Work.forward(kind)).isNotSameAs(Work.backward(kind));
    }
    assertThat(Work.forward(NormSpec.Kind.RMS_NORM))
        .isNotSameAs(Work.forward(NormSpec.Kind.LAYER_NORM));
  }
}
