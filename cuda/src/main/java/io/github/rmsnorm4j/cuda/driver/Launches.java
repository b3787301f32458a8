package io.github.rmsnorm4j.cuda.driver;

import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * The last launches in a context that may still be at work. An error of a kernel is seen by a later
 * call, which asks here which kernels may have failed. Nothing here blocks.
 */
final class Launches {
  private static final int KEPT = 8;

  /** The call is described only if it is asked for. */
  private record Launch(long number, MemorySegment stream, String kernel, Supplier<String> call) {}

  private final AtomicReferenceArray<Launch> last = new AtomicReferenceArray<>(KEPT);
  private final AtomicLong count = new AtomicLong();

  /**
   * Notes a launch before it is done, as another thread may see its error at once.
   *
   * @return takes the note away, for a launch that the driver refuses
   */
  Runnable add(MemorySegment stream, String kernel, Supplier<String> call) {
    long number = count.getAndIncrement();
    last.set((int) (number % KEPT), new Launch(number, stream, kernel, call));
    return () -> drop(launch -> launch.number == number);
  }

  /** Launches so far: those with a lower number are before whatever is done next. */
  long count() {
    return count.get();
  }

  /** Launches with lower numbers are done. */
  void finished(long number) {
    drop(launch -> launch.number < number);
  }

  /** Launches with lower numbers are done if they are on this stream. */
  void finished(long number, MemorySegment stream) {
    drop(launch -> launch.number < number && launch.stream.equals(stream));
  }

  private void drop(Predicate<Launch> done) {
    for (int place = 0; place < KEPT; place++) {
      Launch launch = last.get(place);
      if (launch != null && done.test(launch)) {
        last.compareAndSet(place, launch, null);
      }
    }
  }

  /** {@code kernel K of CALL}, the oldest first, for each kernel that may still be at work. */
  List<String> unfinished() {
    return IntStream.range(0, KEPT)
        .mapToObj(last::get)
        .filter(Objects::nonNull)
        .sorted(Comparator.comparingLong(Launch::number))
        .map(launch -> "kernel " + launch.kernel + " of " + launch.call.get())
        .toList();
  }
}
