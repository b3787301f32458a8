package io.github.rmsnorm4j.internal.norm;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PayoffTest {
  /** A call that begins before the end of the start is covered whole. */
  @ParameterizedTest
  @CsvSource({"false, 4194304", "true, 67108864"})
  void coversTheFirstElements(boolean loops, long most) {
    Payoff payoff = new Payoff();
    assertThat(payoff.isPlain(1, loops)).isTrue();
    assertThat(payoff.isPlain(most - 2, loops)).isTrue();
    assertThat(payoff.isPlain(9, loops)).isTrue();
    assertThat(payoff.isPlain(1, loops)).isFalse();
    assertThat(payoff.pays(1)).isTrue();
  }

  /** A longer call has a kernel at once, and so have those after it. */
  @ParameterizedTest
  @CsvSource({"false, 4194304", "true, 67108864"})
  void aLongCallEndsTheStart(boolean loops, long most) {
    Payoff payoff = new Payoff();
    assertThat(payoff.isPlain(most + 1, loops)).isFalse();
    assertThat(payoff.isPlain(1, loops)).isFalse();
    assertThat(new Payoff().isPlain(most, loops)).isTrue();
  }

  @Test
  void paysForALongCallAlone() {
    assertThat(new Payoff().pays(4_194_304)).isFalse();
    assertThat(new Payoff().pays(4_194_305)).isTrue();
  }

  @Test
  void theFirstTierHasElementsOfItsOwn() {
    Payoff payoff = new Payoff();
    assertThat(payoff.isOfFirstTier(499_999_999)).isTrue();
    assertThat(payoff.isPlain(1, false)).isTrue();
    assertThat(payoff.isOfFirstTier(1_000)).isTrue();
    assertThat(payoff.isOfFirstTier(1)).isFalse();
    payoff.end();
    assertThat(payoff.isPlain(1, true)).isFalse();
  }

  @Test
  void eachNormAndDirectionHasItsOwn() {
    for (NormSpec.Kind kind : NormSpec.Kind.values()) {
      assertThat(Payoff.forward(kind))
          .isSameAs(Payoff.forward(kind))
          .isNotSameAs(Payoff.backward(kind));
    }
    assertThat(Payoff.forward(NormSpec.Kind.RMS_NORM))
        .isNotSameAs(Payoff.forward(NormSpec.Kind.LAYER_NORM));
  }
}
