package io.github.rmsnorm4j.internal.norm;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PayoffTest {
  @ParameterizedTest
  @CsvSource({"false, 4194304", "true, 67108864"})
  void paysAfterTheFirstElements(boolean loops, long most) {
    Payoff payoff = new Payoff();
    payoff.count(most - 1);
    assertThat(payoff.pays(1, loops)).isFalse();
    payoff.count(1);
    assertThat(payoff.pays(1, loops)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"false, 4194304", "true, 67108864"})
  void paysForALongCallAlone(boolean loops, long most) {
    assertThat(new Payoff().pays(most, loops)).isFalse();
    assertThat(new Payoff().pays(most + 1, loops)).isTrue();
  }

  @Test
  void theFirstTierHasElementsOfItsOwn() {
    Payoff payoff = new Payoff();
    assertThat(payoff.isOfFirstTier(499_999_999)).isTrue();
    assertThat(payoff.pays(1, false)).isFalse();
    assertThat(payoff.isOfFirstTier(1_000)).isTrue();
    assertThat(payoff.isOfFirstTier(1)).isFalse();
    payoff.end();
    assertThat(payoff.pays(1, true)).isTrue();
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
