package io.github.rmsnorm4j.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class InterleavedTest {
  private final AtomicLong clock = new AtomicLong();
  private final List<String> done = new ArrayList<>();
  // A sample of no length holds one call.
  private final Interleaved measurement = new Interleaved(new Effort(0, 3, 0), clock::get);

  private Runnable work(String name, int nanos) {
    return () -> {
      clock.addAndGet(nanos);
      done.add(name);
    };
  }

  @Test
  void allTakeTurnsByTheClockThatIsGiven() {
    List<Samples> samples =
        measurement.measure(
            List.of(
                List.of(work("a", 30)),
                List.of(work("b", 10)),
                List.of(work("c at one place", 5), work("c at another", 7))));

    assertThat(samples)
        .containsExactly(
            new Samples(List.of(30.0, 30.0, 30.0)),
            new Samples(List.of(10.0, 10.0, 10.0)),
            new Samples(List.of(5.0, 7.0, 5.0)));
    assertThat(done.subList(done.size() - 9, done.size()))
        .containsExactly(
            "a", "b", "c at one place", "a", "b", "c at another", "a", "b", "c at one place");
  }

  /** Plain Java, then other code until it is compiled, then the compiled code. */
  @Test
  void whatIsSlowForAWhileIsNotWarm() {
    long[] slowUntil = {0};
    int[] calls = {0};
    Runnable work =
        () -> {
          if (++calls[0] == 3) {
            slowUntil[0] = System.nanoTime() + 200_000_000;
          }
          clock.addAndGet(System.nanoTime() < slowUntil[0] ? 100 : 10);
        };
    List<Samples> samples =
        new Interleaved(new Effort(50_000_000, 3, 0), clock::get).measure(List.of(List.of(work)));
    assertThat(samples).containsExactly(new Samples(List.of(10.0, 10.0, 10.0)));
  }

  @Test
  void whatStaysSlowIsMeasuredAsItIs() {
    int[] calls = {0};
    Runnable work = () -> clock.addAndGet(++calls[0] < 3 ? 10 : 100);
    List<Samples> samples =
        new Interleaved(new Effort(20_000_000, 3, 0), clock::get).measure(List.of(List.of(work)));
    assertThat(samples).containsExactly(new Samples(List.of(100.0, 100.0, 100.0)));
  }
}
