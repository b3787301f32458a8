package io.github.rmsnorm4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TimesTest {
  @Test
  void medianTakesTheMiddle() {
    assertThat(Times.median(List.of(9.0, 1.0, 2.0))).isEqualTo(2);
    assertThat(Times.median(List.of(9.0, 1.0, 2.0, 4.0))).isEqualTo(3);
  }

  @Test
  void ratioIsOfMedians() {
    assertThat(new Times(List.of(30.0, 20.0, 900.0), List.of(10.0, 0.1, 20.0)).ratio())
        .isEqualTo(3);
  }

  @Test
  void theTwoTakeTurnsByTheClockThatIsGiven() {
    AtomicLong clock = new AtomicLong();
    List<String> done = new ArrayList<>();
    Runnable subject =
        () -> {
          clock.addAndGet(30);
          done.add("subject");
        };
    Runnable baseline =
        () -> {
          clock.addAndGet(10);
          done.add("baseline");
        };
    // A sample of no length holds one call.
    Times times =
        Times.measure(List.of(subject), List.of(baseline), new Effort(0, 3, 0, 0, 0), clock::get);

    assertThat(times).isEqualTo(new Times(List.of(30.0, 30.0, 30.0), List.of(10.0, 10.0, 10.0)));
    assertThat(done.subList(done.size() - 6, done.size()))
        .containsExactly("baseline", "subject", "baseline", "subject", "baseline", "subject");
  }
}
