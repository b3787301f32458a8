package io.github.rmsnorm4j.internal.parallel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A helper that finds no memory for its place among the idle ones, in a JVM whose heap another
 * thread fills to the last byte: it ends without a word, and the next call gets another helper.
 */
class HelperWithoutMemoryTest {
  @Test
  void itEndsWithoutAWord() throws Exception {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx16m",
            "-XX:+UseSerialGC",
            "-XX:-UseTLAB", // A thread's own part of the heap would have room for its place.
            "-cp",
            System.getProperty("java.class.path"),
            FullHeap.class.getName());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(said).isEqualTo("the helper has ended\nanother one helps\n");
  }

  /** The program. */
  static final class FullHeap {
    private static final int REFUSALS = 20;

    private static volatile Object[] garbage;
    private static volatile boolean full;
    private static volatile Thread helper;

    private FullHeap() {}

    public static void main(String[] args) throws InterruptedException {
      Thread caller = Thread.currentThread();
      // All classes are loaded before the heap is full.
      RowScheduler.run(2, 2, (from, to) -> helpOrWait(caller, false));
      helper = null;
      RowScheduler.run(2, 2, (from, to) -> helpOrWait(caller, true));
      garbage = null;
      Thread first = helper;
      first.join(TimeUnit.SECONDS.toMillis(5)); // One that has its place stays for 10 seconds.
      System.out.println(first.isAlive() ? "the helper goes on" : "the helper has ended");
      helper = null;
      RowScheduler.run(2, 2, (from, to) -> helpOrWait(caller, false));
      System.out.println(helper == first ? "the same one helps" : "another one helps");
    }

    private static void helpOrWait(Thread caller, boolean fill) {
      if (Thread.currentThread() != caller) {
        helper = Thread.currentThread();
        if (fill) {
          fillHeap();
          full = true;
        }
        return;
      }
      while (helper == null || fill && !full) {
        Thread.onSpinWait();
      }
    }

    /** With arrays as small as a place among the idle helpers. */
    private static void fillHeap() {
      for (int refusals = 0; refusals < REFUSALS; ) {
        try {
          garbage = new Object[] {garbage};
        } catch (OutOfMemoryError e) {
          refusals++; // The error itself may have made room by a collection.
        }
      }
    }
  }
}
