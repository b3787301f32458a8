package io.github.rmsnorm4j.studies.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.testing.StubGpu;
import io.github.rmsnorm4j.measure.Effort;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The variants on a GPU, which is a stub of the driver and an interpreter. */
@Isolated // A JVM has one library of the driver.
class GpuRaceTest {
  private static final Effort ONCE = new Effort(0, 1, 1);

  private StubGpu gpu;
  private Processor processor;

  @BeforeEach
  void open() throws IOException {
    gpu = new StubGpu();
    processor = new GpuProcessor(CudaDevice.open().orElseThrow());
  }

  @AfterEach
  void nothingLeaks() throws IOException {
    if (gpu != null) { // else skipped
      processor.close();
      gpu.rethrow();
      assertThat(gpu.leaks()).isEmpty();
      gpu.close();
    }
  }

  private static Stream<Subject> subjects() {
    return RaceTest.subjects(Shape.of(1, 1030), Shape.of(3, 23, 67));
  }

  /**
   * Answers are checked as those of the processor are, and the same passes over memory are counted.
   */
  @ParameterizedTest
  @MethodSource("subjects")
  void allVariantsGiveTheRightAnswer(Subject subject) {
    try (Race<?> race = new Race<>(processor.ground(subject))) {
      Timing timing = race.measure(ONCE);
      assertThat(timing.variants()).extracting(Timed::variant).containsExactly(Variant.values());
      assertThat(timing.variants()).allMatch(t -> t.nanos().median() > 0 && t.error() >= 0);
      List<Work> works =
          subject.pass() == Pass.FORWARD
              ? List.of(new Work(12, 7), new Work(2, 7), new Work(7, 4), new Work(2, 4))
              : List.of(new Work(21, 11), new Work(3, 11), new Work(17, 8), new Work(3, 8));
      assertThat(timing.variants()).extracting(Timed::work).isEqualTo(works);
    }
  }

  /** A framework's allocator would give the same number of tensors. */
  @Test
  void memoryIsCountedInTensors() throws IOException {
    Plan plan = Plan.of(Shape.of(64, 256), null, Plan.Extent.QUICK, processor);
    List<MemoryUse> uses = processor.memory(plan, what -> {});
    double tensor = plan.headline().tensorBytes();
    assertThat(uses).extracting(MemoryUse::variant).containsExactly(Variant.values());
    for (MemoryUse use : uses) {
      double tensors = use.variant().isFused() ? 2 : 3;
      assertThat(use.bytes() / tensor).isBetween(tensors, tensors + 0.1);
    }
  }

  @Test
  void naiveFloat16OverflowsWhereFusedDoesNot() {
    try (Ground<?> ground = processor.ground(HalfRow.subject())) {
      HalfRow row = HalfRow.of(Variant.RMS_NAIVE, Variant.RMS_FUSED, ground);
      assertThat(row.fusedWrong()).isZero();
      assertThat(row.naiveWrong()).isGreaterThan(4000);
    }
  }
}
