package io.github.rmsnorm4j.measure;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChildJvmTest {
  /** Says something in an encoding of its own, and fails. */
  static final class Failing {
    public static void main(String[] args) {
      System.out.writeBytes(new byte[] {'c', 'a', 'f', (byte) 0xe9, ' ', (byte) 0xff, 'x'});
      System.exit(3);
    }
  }

  @Test
  void whatAFailingProgramSaidIsShownThoughItIsNoUtf8() {
    assertThatThrownBy(() -> ChildJvm.run(Failing.class, List.of()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("Failing ended with status 3: ")
        .hasMessageContaining("caf")
        .hasMessageEndingWith("x");
  }
}
