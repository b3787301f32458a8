package io.github.rmsnorm4j.cuda.driver;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;

/**
 * The last launches in a context. An error of a kernel is seen by a later call, which asks here
 * which kernels may have failed. Nothing here blocks.
 */
final class Launches {
  private static final int KEPT = 8;

  /** The call is described only if it is asked for. */
  private record Launch(long number, Stream stream, String kernel, Supplier<String> call) {}

  private final AtomicReferenceArray<Launch> last = new AtomicReferenceArray<>(KEPT);
  private final AtomicLong count = new AtomicLong();

  /**
   * Notes a launch before it is done, as another thread may see its error at once.
   *
   * @return takes the note away, for a launch that the driver refuses
   */
  Runnable add(Stream stream, String kernel, Supplier<String> call) {
    long number = count.getAndIncrement();
    int place = (int) (number % KEPT);
    Launch launch = new Launch(number, stream, kernel, call);
    last.set(place, launch);
    return () -> last.compareAndSet(place, launch, null);
  }

  /** Launches so far: those with a lower number are before whatever is done next. */
  long count() {
    return count.get();
  }

  /** {@code kernel K of CALL}, the oldest first, for each kernel that may still be at work. */
  List<String> unfinished() {
    long end = count.get();
    List<String> texts = new ArrayList<>();
    for (long number = Math.max(0, end - KEPT); number < end; number++) {
      Launch launch = last.get((int) (number % KEPT));
      if (launch != null && launch.number >= launch.stream.finished()) {
        texts.add("kernel " + launch.kernel + " of " + launch.call.get());
      }
    }
    return texts;
  }
}
