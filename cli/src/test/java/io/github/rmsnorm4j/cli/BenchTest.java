package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BenchTest {
  @Test
  void outsideACheckoutOneLineSaysWhatIsNeeded() {
    CommandResult result = CommandResult.of("bench");
    assertThat(result.status()).isOne();
    assertThat(result.err())
        .isEqualTo(
            "rmsnorm bench: needs a checkout of rmsnorm4j, to build the measurements from: start"
                + " ./rmsnorm bench there\n");
  }

  @Test
  void wrongUseIsSaidBeforeAnythingIsBuilt() {
    assertThat(wrongUse("--write", "--quick"))
        .contains("--write takes a whole run: it excludes --quick, --only, --polluted and --traps");
    assertThat(wrongUse("--traps", "--check")).contains("--check and --traps exclude each other");
    assertThat(wrongUse("--threads", "1,0")).contains("--threads is 0, it may be 1 to 1024");
    assertThat(wrongUse("--jvms", "101")).contains("--jvms is 101, it may be 1 to 100");
  }

  private static String wrongUse(String first, String second) {
    CommandResult result = CommandResult.of("bench", first, second);
    assertThat(result.status()).isEqualTo(2);
    return result.err();
  }
}
