package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The tests run with the Vector API and with native access; {@link BackendFallbackTest} has the
 * rest.
 */
class BackendTest {
  @Test
  void bestIsOneAndUsesWhatIsThere() {
    assertThat(Backend.best()).isSameAs(Backend.best());
    assertThat(Backend.best().vectorBits()).isIn(0, 128, 256, 512);
    assertThat(Backend.best().nativeAccess()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {128, 256, 512})
  void vectorsOfAnyWidth(int bits) {
    Backend backend = Backend.vector(bits);
    assertThat(backend.vectorBits()).isEqualTo(bits);
    assertThat(backend).hasToString(bits + "-bit vectors, native access");
    assertThat(backend.reason()).isEqualTo("the Vector API is there");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 64, 192, 1024, -128})
  void otherWidthsAreRefused(int bits) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Backend.vector(bits))
        .withMessage("bits is " + bits + ", it may be 128, 256 or 512");
  }

  @Test
  void plainJavaForTheAsking() {
    assertThat(Backend.scalar().vectorBits()).isZero();
    assertThat(Backend.scalar()).hasToString("plain Java (no vectors), native access");
    assertThat(Backend.scalar().reason()).isEqualTo("plain Java was asked for");
    assertThat(Backend.loops()).hasToString("Java loops, native access");
    assertThat(Backend.loops().reason()).isEqualTo("Java loops were asked for");
    assertThat(Backend.loops().vectorBits()).isZero();
  }
}
