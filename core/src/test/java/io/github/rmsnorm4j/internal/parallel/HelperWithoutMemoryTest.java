package io.github.rmsnorm4j.internal.parallel;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ChildJvm;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A helper that finds no memory for its place among the idle ones, in a JVM whose heap another
 * thread fills to the last byte: it ends without a word, and the next call gets another helper.
 */
class HelperWithoutMemoryTest {
  @Test
  void itEndsWithoutAWord() throws Exception {
    List<String> flags =
        List.of(
            "-Xmx16m",
            "-XX:+UseSerialGC",
            "-XX:-UseTLAB"); // A thread's own part of the heap would have room for its place.
    // Threads of the JVM itself may complain of the heap.
    assertThat(ChildJvm.output(flags, FullHeap.class))
        .contains("the helper has ended, another one helps")
        .doesNotContain("rmsnorm4j-");
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
      Thread first = helper(caller, false);
      Thread next = first;
      // The same one helps again if the JVM, of itself, had let go of something after all.
      while (next == first) {
        first = helper(caller, true);
        garbage = null;
        next = helper(caller, false);
      }
      first.join();
      System.out.println("the helper has ended, another one helps");
    }

    private static Thread helper(Thread caller, boolean fill) {
      helper = null;
      full = false;
      RowScheduler.run(2, 2, (from, to) -> helpOrWait(caller, fill));
      return helper;
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
