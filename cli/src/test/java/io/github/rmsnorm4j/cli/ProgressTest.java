package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.ChildJvm;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private final StringWriter err = new StringWriter();
  private final AtomicInteger asked = new AtomicInteger();

  private long nanos;

  private Progress progress(boolean watched) {
    return new Progress(
        new PrintWriter(err, true),
        8 << 20,
        () -> {
          asked.incrementAndGet();
          return watched;
        },
        () -> nanos);
  }

  @Test
  void appearsAfterASecondAndLeavesNoTrace() throws InterruptedException {
    try (Progress progress = progress(true)) {
      progress.step(2 << 20);
      nanos = 1_000_000_000;
      progress.step(1 << 20);
      assertThat(err.toString()).isEmpty();
      nanos++;
      progress.step(1 << 20);
      progress.step(2 << 20);
      while (!err.toString().contains("6/8 MiB")) {
        Thread.sleep(1); // until the bar's own thread has drawn it again
      }
    }
    assertThat(err.toString()).startsWith("\r").endsWith("\r");
    assertThat(err.toString()).doesNotContain("\n");
    String last =
        err.toString().substring(err.toString().lastIndexOf('\r', err.toString().length() - 2));
    assertThat(last).isBlank();
    assertThat(asked).hasValue(1);
  }

  @Test
  void isSilentWhereNobodyWatches() {
    try (Progress progress = progress(false)) {
      nanos = 1_100_000_000;
      progress.step(2 << 20);
      progress.step(2 << 20);
    }
    assertThat(err.toString()).isEmpty();
    assertThat(asked).hasValue(1);
  }

  @Test
  void isSilentAboutShortWorkAndDoesNotEvenAsk() {
    try (Progress progress = progress(true)) {
      nanos = 900_000_000;
      progress.step(6 << 20);
    }
    assertThat(err.toString()).isEmpty();
    assertThat(asked).hasValue(0);
  }

  /** A program that works until it is ended from outside. */
  static final class Endless {
    public static void main(String[] args) throws InterruptedException {
      try (Progress progress = new Progress(new PrintWriter(System.err), 8 << 20, () -> true)) {
        for (int i = 0; true; i++) {
          progress.step(i == 0 ? 1 << 20 : 0);
          Thread.sleep(10);
        }
      }
    }
  }

  /** As by Ctrl-C: what the terminal shows next begins on a line of its own. */
  @Test
  void itsLineIsFinishedWhereTheProgramIsEnded() throws IOException, InterruptedException {
    List<String> command = ChildJvm.command(Endless.class, List.of());
    Process process =
        new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    StringBuilder shown = new StringBuilder();
    try (InputStream from = process.getErrorStream()) {
      byte[] some = new byte[1000];
      for (int read = from.read(some); read >= 0; read = from.read(some)) {
        shown.append(new String(some, 0, read, StandardCharsets.US_ASCII));
        if (shown.indexOf("1/8 MiB") >= 0) {
          process.toHandle().destroy(); // destroy() of the process itself closes the stream.
        }
      }
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.waitFor()).isEqualTo(128 + 15);
    assertThat(shown).startsWith("\r").contains("1/8 MiB").endsWith(System.lineSeparator());
    assertThat(shown).containsOnlyOnce("\n");
  }
}
