package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.rmsnorm4j.internal.machine.Jdk;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** What back ends say on a JDK that lacks what they need. {@code .ci/jdk21} runs it on one. */
class OlderJdkTest {
  private static final String HERE = " or newer is needed, this is " + Runtime.version();

  @Test
  void anObstacleNamesBothVersions() {
    int here = Runtime.version().feature();
    assertThat(Jdk.obstacle(here)).isNull();
    assertThat(Jdk.obstacle(here + 1)).isEqualTo("JDK " + (here + 1) + HERE);
  }

  @Test
  @EnabledForJreRange(
      max = JRE.JAVA_21,
      disabledReason = ".ci/jdk21 runs it on a JDK that has plain Java alone")
  void plainJavaServes() {
    for (Backend backend : new Backend[] {Backend.best(), Backend.withoutMachineCode()}) {
      assertThat(backend.vectorBits()).isZero();
      assertThat(backend).hasToString("plain Java (no vectors), native access");
    }
    assertThat(Backend.hasMachineCode()).isFalse();
    assertThat(Backend.best().reason())
        .isEqualTo("no Java loops and vectors: JDK 24" + HERE + "; no machine code: JDK 22" + HERE);
    refuses(Backend::loops, "no Java loops: JDK 24");
    refuses(() -> Backend.vector(256), "no kernels of vectors: JDK 24");
    refuses(() -> Backend.machineCode(256), "no machine code of 256 bits: JDK 22");
  }

  private static void refuses(ThrowingCallable chosen, String beginning) {
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(chosen)
        .withMessage(beginning + HERE);
  }
}
