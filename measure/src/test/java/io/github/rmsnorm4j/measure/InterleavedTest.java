package io.github.rmsnorm4j.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class InterleavedTest {
  private final AtomicLong clock = new AtomicLong();
  private final AtomicLong ticks = new AtomicLong();
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

  /** The times of work of which each call ticks once, settled after so many ticks. */
  private List<Samples> warmAfter(long settled, Runnable work) {
    return new Interleaved(new Effort(settled, 3, 0), clock::get)
        .measure(List.of(List.of(work)), ticks::get);
  }

  /** Plain Java, then other code until it is compiled, then the compiled code. */
  @Test
  void whatIsSlowForAWhileIsNotWarm() {
    // Slow for four times as long as what is settled, but not for as long as is waited at most.
    Runnable work =
        () -> clock.addAndGet(ticks.incrementAndGet() < 3 || ticks.get() > 203 ? 10 : 100);
    assertThat(warmAfter(50, work)).containsExactly(new Samples(List.of(10.0, 10.0, 10.0)));
  }

  @Test
  void whatStaysSlowIsMeasuredAsItIs() {
    Runnable work = () -> clock.addAndGet(ticks.incrementAndGet() < 3 ? 10 : 100);
    assertThat(warmAfter(20, work)).containsExactly(new Samples(List.of(100.0, 100.0, 100.0)));
  }
}
