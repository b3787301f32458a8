package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private final StringWriter err = new StringWriter();
  private final AtomicInteger asked = new AtomicInteger();

  private void work(boolean watched, long millis) throws InterruptedException {
    try (Progress progress =
        new Progress(
            new PrintWriter(err, true),
            8 << 20,
            () -> {
              asked.incrementAndGet();
              return watched;
            })) {
      progress.step(2 << 20);
      Thread.sleep(millis);
      progress.step(2 << 20);
      progress.step(2 << 20);
      Thread.sleep(millis > 0 ? 500 : 0);
    }
  }

  @Test
  void appearsAfterASecondAndLeavesNoTrace() throws InterruptedException {
    work(true, 1100);
    assertThat(err.toString()).startsWith("\r").contains("6/8 MiB").endsWith("\r");
    assertThat(err.toString()).doesNotContain("\n");
    String last =
        err.toString().substring(err.toString().lastIndexOf('\r', err.toString().length() - 2));
    assertThat(last).isBlank();
    assertThat(asked).hasValue(1);
  }

  @Test
  void isSilentWhereNobodyWatches() throws InterruptedException {
    work(false, 1100);
    assertThat(err.toString()).isEmpty();
    assertThat(asked).hasValue(1);
  }

  @Test
  void isSilentAboutShortWorkAndDoesNotEvenAsk() throws InterruptedException {
    work(true, 0);
    assertThat(err.toString()).isEmpty();
    assertThat(asked).hasValue(0);
  }
}
