package io.github.rmsnorm4j.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EntrantTest {
  static List<Contest> contests() {
    List<Contest> all = new ArrayList<>();
    for (Kernel kernel : Kernel.values()) {
      for (ElementType type : ElementType.values()) {
        all.add(Contest.forward(kernel, 5, 1000).with(type));
        if (type != ElementType.FLOAT64) { // The parameters' gradients are float32 here.
          // In rows as short as these the known error is far above the roundings of every type; and
          // in few, since some add the parameters' gradients up in it.
          all.add(Contest.backward(kernel, 5, 64).with(type));
        }
      }
      all.add(Contest.forward(kernel, 1, 65_536));
      all.add(Contest.backward(kernel, 5, 1000));
      all.add(Contest.backward(kernel, 70, 64));
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("contests")
  void answersAreRightButForTheOneKnownToBeWrong(Contest contest) {
    for (Entrant entrant : Entrant.in(contest)) {
      boolean knownWrong =
          entrant.name().equals(Systems.ONEDNN)
              && contest.backward()
              && contest.kernel() == Kernel.RMS_NORM;
      for (int threads = 1; threads <= 2 && entrant.definition() != null; threads++) {
        Double error = error(contest, entrant, threads);
        if (error != null) {
          assertThat(error <= Answer.allowed(entrant, contest))
              .as("%s, %s, %d threads: error %s", contest, entrant.name(), threads, error)
              .isEqualTo(!knownWrong);
        }
      }
    }
  }

  /** Null where the system refuses: not every machine and type is everybody's. */
  private static Double error(Contest contest, Entrant entrant, int threads) {
    try (Arena arena = Arena.ofShared()) {
      Place place = Place.random(contest, arena);
      try {
        entrant.answer(place, threads);
      } catch (RuntimeException e) {
        assertThat(contest.type()).as(entrant.name() + ": " + e).isNotEqualTo(ElementType.FLOAT32);
        return null;
      }
      return Answer.error(place, entrant.definition());
    }
  }

  @ParameterizedTest
  @MethodSource("contests")
  void anAnswerThatIsNotThereIsNotRight(Contest contest) {
    try (Arena arena = Arena.ofShared()) {
      Place place = Place.random(contest, arena);
      place.forget();
      assertThat(Answer.error(place, Definition.of(contest.kernel())) <= 0.1).isFalse();
    }
  }
}
