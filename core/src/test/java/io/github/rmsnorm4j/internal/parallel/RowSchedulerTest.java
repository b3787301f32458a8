package io.github.rmsnorm4j.internal.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class RowSchedulerTest {
  /** A helper of these comes when it is asked for, and stays; other tests take the shared ones. */
  private final Helpers own = new Helpers(TimeUnit.MINUTES.toNanos(10));

  @Test
  void everyRowIsDoneOnce() {
    for (int threads : new int[] {1, 2, 3, 7, 64}) {
      for (int rows : new int[] {0, 1, 2, 3, 5, 64, 65, 1000, 4099}) {
        AtomicIntegerArray done = new AtomicIntegerArray(rows + 1);
        RowScheduler.run(rows, threads, (from, to) -> mark(done, from, to));
        for (int r = 0; r < rows; r++) {
          assertThat(done.get(r)).as("row %d of %d on %d threads", r, rows, threads).isEqualTo(1);
        }
        assertThat(done.get(rows)).isZero();
      }
    }
  }

  @Test
  void moreRowsThanAnIntHolds() {
    long rows = 5L << 32;
    AtomicLong done = new AtomicLong();
    RowScheduler.run(rows, 3, (from, to) -> done.addAndGet(to - from));
    assertThat(done).hasValue(rows);
  }

  @Test
  void neverMoreThreadsThanAsked() {
    Set<Thread> workers = ConcurrentHashMap.newKeySet();
    AtomicInteger working = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch begun = new CountDownLatch(1);
    Thread caller = Thread.currentThread();
    RowScheduler.run(
        200,
        4,
        (from, to) -> {
          if (Thread.currentThread() == caller) {
            begun.countDown();
          }
          await(begun); // Helpers leave a run of rows to a caller that comes late.
          workers.add(Thread.currentThread());
          most.accumulateAndGet(working.incrementAndGet(), Math::max);
          sleep(1);
          working.decrementAndGet();
        });
    assertThat(most.get()).isBetween(1, 4);
    assertThat(workers).contains(caller);
  }

  @Test
  void helpersAreDaemonsAndKeepNoClassLoader() throws Exception {
    CountDownLatch helped = new CountDownLatch(1);
    Set<Thread> helpers = ConcurrentHashMap.newKeySet();
    Set<String> wrong = ConcurrentHashMap.newKeySet();
    RowScheduler.Rows work =
        (from, to) -> {
          Thread thread = Thread.currentThread();
          if (!thread.getName().startsWith("rmsnorm4j-")) {
            await(helped);
            return;
          }
          helpers.add(thread);
          if (!thread.isDaemon() || thread.getContextClassLoader() != null) {
            wrong.add(thread.toString());
          }
          helped.countDown();
        };
    // A thread is a daemon if the one that starts it is, as that of a test may be.
    Thread.ofPlatform().daemon(false).start(() -> RowScheduler.run(100, 2, work, own::ask)).join();
    assertThat(helpers).hasSize(1);
    assertThat(wrong).isEmpty();
  }

  @Test
  void whatAHelperThrowsComesBack() {
    for (Throwable thrown : List.of(new IllegalStateException("row"), new InternalError("row"))) {
      CountDownLatch helped = new CountDownLatch(1);
      Thread caller = Thread.currentThread();
      assertThatThrownBy(
              () ->
                  RowScheduler.run(
                      100,
                      2,
                      (from, to) -> {
                        if (Thread.currentThread() == caller) {
                          await(helped);
                          return;
                        }
                        helped.countDown();
                        raise(thrown);
                      },
                      own::ask))
          .isSameAs(thrown);
    }
  }

  @Test
  void whatTheCallerThrowsWaitsForTheHelpers() {
    CountDownLatch helped = new CountDownLatch(1);
    AtomicInteger working = new AtomicInteger();
    Thread caller = Thread.currentThread();
    IllegalStateException thrown = new IllegalStateException("row");
    assertThatThrownBy(
            () ->
                RowScheduler.run(
                    100,
                    2,
                    (from, to) -> {
                      if (Thread.currentThread() == caller) {
                        await(helped);
                        throw thrown;
                      }
                      working.incrementAndGet();
                      helped.countDown();
                      sleep(50);
                      working.decrementAndGet();
                    },
                    own::ask))
        .isSameAs(thrown);
    assertThat(working).as("helpers still at work after the call").hasValue(0);
  }

  @Test
  void aFailureStopsTheRest() {
    CountDownLatch helped = new CountDownLatch(1);
    CountDownLatch failed = new CountDownLatch(1);
    Thread caller = Thread.currentThread();
    AtomicInteger runs = new AtomicInteger();
    assertThatThrownBy(
            () ->
                RowScheduler.run(
                    1_000_000,
                    2,
                    (from, to) -> {
                      runs.incrementAndGet();
                      if (Thread.currentThread() == caller) {
                        await(helped);
                        failed.countDown();
                        throw new IllegalStateException("row");
                      }
                      helped.countDown();
                      await(failed);
                      while (caller.getState() != Thread.State.WAITING) {
                        Thread.onSpinWait(); // until it has done all but wait for this thread
                      }
                    },
                    own::ask))
        .hasMessage("row");
    assertThat(runs).as("one run of each thread").hasValue(2);
  }

  @Test
  void anInterruptIsKeptAndStopsNothing() {
    CountDownLatch helped = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    Thread caller = Thread.currentThread();
    AtomicIntegerArray done = new AtomicIntegerArray(101);
    try {
      RowScheduler.run(
          100,
          2,
          (from, to) -> {
            if (Thread.currentThread() == caller) {
              await(helped);
              goesOn.countDown();
            } else {
              helped.countDown();
              await(goesOn);
              while (caller.getState() != Thread.State.WAITING) {
                Thread.onSpinWait(); // until it has done all but wait for this thread
              }
              caller.interrupt();
              sleep(20);
            }
            mark(done, from, to);
          },
          own::ask);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    for (int r = 0; r < 100; r++) {
      assertThat(done.get(r)).isEqualTo(1);
    }
  }

  /** Callers of both kinds, with pauses about as long as helpers look out, or failing. */
  @Test
  void callsOfManyCallersDoEveryRowOnceAndNoneAfterwards() throws Exception {
    Set<String> wrong = ConcurrentHashMap.newKeySet();
    List<Thread> callers = new ArrayList<>();
    for (int c = 0; c < 6; c++) {
      long seed = c;
      Runnable calls = () -> manyCalls(seed, wrong);
      callers.add(c < 4 ? Thread.ofPlatform().start(calls) : Thread.ofVirtual().start(calls));
    }
    for (Thread caller : callers) {
      caller.join();
    }
    assertThat(wrong).isEmpty();
  }

  private static void manyCalls(long seed, Set<String> wrong) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int k = 0; k < 1000; k++) {
      int rows = random.nextInt(2, 300);
      int threads = random.nextInt(1, 9);
      boolean fails = random.nextInt(10) == 0;
      String what = "seed %d, call %d, %d rows, %d threads".formatted(seed, k, rows, threads);
      AtomicIntegerArray done = new AtomicIntegerArray(rows);
      AtomicBoolean over = new AtomicBoolean();
      try {
        RowScheduler.run(
            rows,
            threads,
            (from, to) -> {
              mark(done, from, to);
              spin(2_000);
              if (fails && from == 0) {
                throw new IllegalStateException(what);
              }
              if (over.get()) {
                wrong.add(what + ": at work when the call was over");
              }
            });
        if (fails) {
          wrong.add(what + ": did not fail");
        }
      } catch (IllegalStateException e) {
        if (!fails || !e.getMessage().equals(what)) {
          wrong.add(what + ": " + e);
        }
      }
      over.set(true);
      for (int r = 0; r < rows; r++) {
        int times = done.get(r);
        if (times > 1 || times == 0 && !fails) {
          wrong.add(what + ": row " + r + " done " + times + " times");
        }
      }
      spin(random.nextInt(4) * 25_000);
    }
  }

  private static void spin(long nanos) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < nanos) {
      Thread.onSpinWait();
    }
  }

  @Test
  void anInterruptedHelperSleepsAllTheSame() throws Exception {
    CountDownLatch helped = new CountDownLatch(1);
    Thread caller = Thread.currentThread();
    AtomicReference<Thread> helper = new AtomicReference<>();
    RowScheduler.run(
        100,
        2,
        (from, to) -> {
          if (Thread.currentThread() == caller) {
            await(helped);
          } else {
            helper.set(Thread.currentThread());
            helped.countDown();
          }
        },
        own::ask);
    helper.get().interrupt();
    while (helper.get().isInterrupted() || helper.get().getState() != Thread.State.TIMED_WAITING) {
      sleep(1);
    }
  }

  @Test
  void callsInsideCalls() {
    AtomicLong done = new AtomicLong();
    RowScheduler.Rows inner =
        (from, to) -> {
          for (long r = from; r < to; r++) {
            RowScheduler.run(50, 4, (f, t) -> done.addAndGet(t - f));
          }
        };
    RowScheduler.run(40, 4, (from, to) -> RowScheduler.run(to - from, 4, inner));
    assertThat(done).hasValue(40 * 50);
  }

  @Test
  void theCallerFinishesAloneWhereEveryHelperIsTaken() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch taken = new CountDownLatch(Helpers.MAX + 1);
    RowScheduler.Rows held =
        (from, to) -> {
          taken.countDown();
          await(release);
        };
    int rows = Helpers.MAX + 100;
    Thread another = Thread.ofPlatform().start(() -> RowScheduler.run(rows, rows, held, own::ask));
    try {
      taken.await(); // one run of rows by each helper, and one by their caller
      Set<Thread> workers = ConcurrentHashMap.newKeySet();
      AtomicIntegerArray done = new AtomicIntegerArray(101);
      RowScheduler.run(
          100,
          8,
          (from, to) -> {
            workers.add(Thread.currentThread());
            mark(done, from, to);
          },
          own::ask);
      assertThat(workers).containsExactly(Thread.currentThread());
      for (int r = 0; r < 100; r++) {
        assertThat(done.get(r)).isEqualTo(1);
      }
    } finally {
      release.countDown();
      another.join();
    }
  }

  @Test
  void theCallerFinishesWithTheHelpersThatCouldBeStarted() {
    AtomicIntegerArray done = new AtomicIntegerArray(1001);
    AtomicInteger asked = new AtomicInteger();
    AtomicInteger working = new AtomicInteger();
    Consumer<Call> oneThreadAndNoMore =
        call -> {
          if (asked.incrementAndGet() > 1) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          Thread.ofPlatform()
              .start(
                  () -> {
                    if (call.join()) {
                      call.claimAll();
                      call.leave();
                    }
                  });
        };
    RowScheduler.run(
        1000,
        100,
        (from, to) -> {
          working.incrementAndGet();
          sleep(2);
          mark(done, from, to);
          working.decrementAndGet();
        },
        oneThreadAndNoMore);
    assertThat(working).as("still at work when the call is over").hasValue(0);
    assertThat(asked).hasValue(2);
    for (int r = 0; r < 1000; r++) {
      assertThat(done.get(r)).isEqualTo(1);
    }
  }

  private static void mark(AtomicIntegerArray done, long from, long to) {
    for (long r = from; r < to; r++) {
      done.incrementAndGet((int) r);
    }
  }

  private static void raise(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) thrown;
  }

  /** Until the other thread is there. */
  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void sleep(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
