package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Signals to a JVM of its own, which says what it heard. */
class StopSignalTest {
  private static final int AGAIN = 7;

  /** Listens until it is ended, or until a line comes. */
  public static void main(String[] args) throws IOException {
    StopSignal signal = new StopSignal(() -> Runtime.getRuntime().halt(AGAIN));
    System.out.println("listening");
    while (System.in.read() != '\n') {
      System.out.println("no line");
    }
    System.out.println(signal.came() + " " + signal.status());
  }

  private static Process start() throws IOException {
    return new ProcessBuilder(ChildJvm.command(StopSignalTest.class, List.of()))
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private static void kill(Process process, String signal)
      throws IOException, InterruptedException {
    String pid = Long.toString(process.pid());
    new ProcessBuilder("kill", "-" + signal, pid).start().waitFor();
  }

  @Test
  void aSignalIsAWishAndTheSameOneOnAnotherWayIsToo() throws Exception {
    Process process = start();
    try (BufferedReader out = process.inputReader()) {
      assertThat(out.readLine()).isEqualTo("listening");
      kill(process, "TERM");
      kill(process, "TERM");
      Thread.sleep(300); // To be heard.
      process.outputWriter().append('\n').flush();
      assertThat(out.readLine()).isEqualTo("true 143");
      assertThat(process.waitFor()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aSecondLaterItIsAnOrder() throws Exception {
    Process process = start();
    try (BufferedReader out = process.inputReader()) {
      assertThat(out.readLine()).isEqualTo("listening");
      kill(process, "TERM");
      Thread.sleep(1500);
      kill(process, "TERM");
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(AGAIN);
    } finally {
      process.destroyForcibly();
    }
  }
}
