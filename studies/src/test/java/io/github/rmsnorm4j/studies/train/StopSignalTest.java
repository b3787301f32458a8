package io.github.rmsnorm4j.studies.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Signals to a JVM of its own, which says what it heard, by a clock that the test sets. */
class StopSignalTest {
  private static final int AGAIN = 7;
  private static final long SECOND = 1_000_000_000;

  /**
   * Listens until it is ended, or until a line comes, or until there is no test any more.
   *
   * @param args the nanoseconds between the first signal and all others
   */
  public static void main(String[] args) throws IOException {
    long later = Long.parseLong(args[0]);
    AtomicInteger heard = new AtomicInteger();
    StopSignal signal =
        new StopSignal(
            () -> Runtime.getRuntime().halt(AGAIN),
            () -> {
              System.out.println("heard");
              return heard.getAndIncrement() == 0 ? 0 : later;
            });
    System.out.println("listening");
    System.in.read();
    synchronized (signal) { // Then what was heard has been done.
      System.out.println(signal.came() + " " + signal.status());
    }
  }

  private static Process start(long later) throws IOException {
    return new ProcessBuilder(ChildJvm.command(StopSignalTest.class, List.of(), later))
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
    Process process = start(SECOND);
    try (BufferedReader out = process.inputReader()) {
      assertThat(out.readLine()).isEqualTo("listening");
      kill(process, "TERM");
      assertThat(out.readLine()).isEqualTo("heard");
      kill(process, "TERM");
      assertThat(out.readLine()).isEqualTo("heard");
      process.outputWriter().append('\n').flush();
      assertThat(out.readLine()).isEqualTo("true 143");
      assertThat(process.waitFor()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aSecondLaterItIsAnOrder() throws Exception {
    Process process = start(SECOND + 1);
    try (BufferedReader out = process.inputReader()) {
      assertThat(out.readLine()).isEqualTo("listening");
      kill(process, "TERM");
      assertThat(out.readLine()).isEqualTo("heard");
      kill(process, "TERM");
      assertThat(process.waitFor()).isEqualTo(AGAIN);
    } finally {
      process.destroyForcibly();
    }
  }
}
