package io.github.rmsnorm4j;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/** Threads that each own a part of rows, and exchange numbers. */
final class Owners {
  private record Range(double[] numbers, int from, int to) {}

  private final Range[] ranges;
  private final Phaser meeting;
  private final Consumer<double[]> change;

  /** How often numbers were exchanged. */
  private int exchanges;

  /**
   * So many owners.
   *
   * @param change is done to the numbers of all owners, before each takes them: nothing, or a fault
   */
  Owners(int count, Consumer<double[]> change) {
    ranges = new Range[count];
    meeting = new Phaser(count);
    this.change = change;
  }

  /** The ranges follow each other, and cover arrays of one length. */
  private void requireWhole() {
    exchanges++;
    int end = 0;
    for (Range range : ranges) {
      if (range.from != end || range.numbers.length != ranges[0].numbers.length) {
        throw new AssertionError(range.from + " of " + range.numbers.length + ", not " + end);
      }
      end = range.to;
    }
    if (end != ranges[0].numbers.length) {
      throw new AssertionError(end + " of " + ranges[0].numbers.length + " numbers");
    }
  }

  int exchanges() {
    return exchanges;
  }

  SumExchange of(int owner) {
    return (numbers, from, to) -> {
      ranges[owner] = new Range(numbers, from, to);
      await();
      if (owner == 0) {
        requireWhole();
      }
      double[] all = new double[numbers.length];
      for (Range range : ranges) {
        System.arraycopy(range.numbers, range.from, all, range.from, range.to - range.from);
      }
      await();
      change.accept(all);
      System.arraycopy(all, 0, numbers, 0, all.length);
    };
  }

  /** Until all have come. After a failure nobody waits, however late. */
  private void await() {
    if (meeting.arriveAndAwaitAdvance() < 0) {
      throw new IllegalStateException("another owner has failed");
    }
  }

  /** Runs what each owner does; throws what the first one that fails throws. */
  void run(IntConsumer work) throws InterruptedException {
    try (ExecutorService threads = Executors.newFixedThreadPool(ranges.length)) {
      List<Future<?>> all = new ArrayList<>();
      for (int owner = 0; owner < ranges.length; owner++) {
        int own = owner;
        all.add(
            threads.submit(
                () -> {
                  try {
                    work.accept(own);
                  } catch (RuntimeException | Error e) {
                    meeting.forceTermination();
                    throw e;
                  }
                }));
      }
      for (Future<?> one : all) {
        try {
          one.get();
        } catch (ExecutionException e) {
          throw new AssertionError(e.getCause());
        }
      }
    }
  }
}
