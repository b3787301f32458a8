package io.github.rmsnorm4j.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.Memory;
import io.github.rmsnorm4j.benchmarks.peers.Comparison;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Contests;
import io.github.rmsnorm4j.benchmarks.peers.KernelKind;
import io.github.rmsnorm4j.benchmarks.peers.Variant;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class VariantsTest {
  /** Contests of a run with fewer rows; two samples of a modulated norm, and one. */
  private static List<Contest> contests() {
    return Contests.variants().stream()
        .map(contest -> Contest.forward(contest.kernel(), 1, 1024).with(contest.type()))
        .distinct()
        .flatMap(one -> Stream.of(one, Contest.forward(one.kernel(), 128, 1024).with(one.type())))
        .toList();
  }

  private static List<Entrant> entrants(Contest contest, KernelKind kind) {
    List<Entrant> entrants = new ArrayList<>(Variants.in(contest, kind));
    if (entrants.size() > 2) {
      entrants.add(OnnxQuantized.entrant(contest));
    }
    return entrants;
  }

  /** {@link MeasureVariants} checks those of Java loops, which need a JVM of their own. */
  @ParameterizedTest
  @EnumSource(names = {"AVX512", "AVX2"})
  void answersAreRightInArraysAndInNativeMemory(KernelKind kind) {
    assumeTrue(KernelKind.here().contains(kind), "not on this processor");
    for (Contest contest : contests()) {
      for (Memory memory : List.of(Memory.HEAP, Memory.NATIVE)) {
        for (Entrant entrant : Variants.in(contest, kind)) {
          assertThat(error(contest, memory, entrant))
              .as("%s, %s, %s", contest, memory, entrant.name())
              .isLessThanOrEqualTo(Answer.allowed(entrant, contest));
        }
      }
    }
  }

  @Test
  void onnxRuntimesAnswerIsRight() {
    for (Contest contest : contests()) {
      for (Entrant entrant : entrants(contest, KernelKind.AVX2)) {
        if (entrant.name().equals(Variant.ONNX_RUNTIME.title())) {
          assertThat(error(contest, Memory.NATIVE, entrant))
              .isLessThanOrEqualTo(Answer.allowed(entrant, contest));
        }
      }
    }
  }

  private static double error(Contest contest, Memory memory, Entrant entrant) {
    try (Arena arena = Arena.ofShared()) {
      Place place = Place.random(contest, memory, arena);
      entrant.answer(place, 1);
      return Answer.error(place, entrant.definition());
    }
  }

  /** The answer of a plain norm is no answer of a variant, unless the variant only stores it. */
  @Test
  void anotherAnswerIsWrong() {
    Contest contest = Contest.forward(Kernel.RMS_NORM, 3, 1024);
    for (Entrant entrant : Variants.in(contest, KernelKind.AVX2)) {
      try (Arena arena = Arena.ofShared()) {
        Place place = Place.random(contest, arena);
        double allowed = Answer.allowed(entrant, contest);
        place.forget();
        assertThat(Answer.error(place, entrant.definition()) <= allowed)
            .as(entrant.name())
            .isFalse();
        place.y.copyFrom(place.x);
        assertThat(Answer.error(place, entrant.definition()) <= allowed)
            .as(entrant.name())
            .isFalse();
      }
    }
  }

  @Test
  void everyComparisonHasItsEntrants() {
    for (Comparison comparison : Comparison.all()) {
      for (Contest contest : comparison.contests()) {
        for (KernelKind kind : KernelKind.values()) {
          assertThat(entrants(contest, kind))
              .extracting(Entrant::name)
              .contains(comparison.variant().system(kind), comparison.against().system(kind))
              .doesNotHaveDuplicates();
        }
      }
    }
  }
}
