package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import org.junit.jupiter.api.Test;

class DoctorTest {
  @Test
  void tellsWhatIsInUseAndWhy() {
    CommandResult result = CommandResult.of("doctor");
    assertThat(result.status()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(result.outLines()).allMatch(line -> line.length() < 80);
    assertThat(result.out().replaceAll("\\s+", " "))
        .contains(
            Runtime.version().toString(),
            System.getProperty("java.home"),
            System.getProperty("os.arch"),
            Runtime.getRuntime().availableProcessors() + " usable",
            "GiB",
            "Faster?",
            Backend.best().describe(),
            Backend.best().reason());
  }
}
