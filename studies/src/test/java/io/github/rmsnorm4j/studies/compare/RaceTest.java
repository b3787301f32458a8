package io.github.rmsnorm4j.studies.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.measure.Effort;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RaceTest {
  private static final Effort ONCE = new Effort(0, 1, 1);

  private static Stream<Subject> subjects() {
    return subjects(Shape.of(1, 1030), Shape.of(3, 21, 67), Shape.of(700, 2048));
  }

  /** Each pass and type with each shape. */
  static Stream<Subject> subjects(Shape... shapes) {
    return Stream.of(Pass.values())
        .flatMap(
            pass ->
                Stream.of(ElementType.FLOAT32, ElementType.FLOAT16, ElementType.BFLOAT16)
                    .flatMap(
                        type -> Stream.of(shapes).map(shape -> new Subject(pass, type, shape))));
  }

  /** Each variant's answer is checked against the definition before it is timed. */
  @ParameterizedTest
  @MethodSource("subjects")
  void allVariantsGiveTheRightAnswer(Subject subject) {
    try (Processor processor = new CpuProcessor(3, Backend.best());
        Race<?> race = new Race<>(processor.ground(subject))) {
      Timing timing = race.measure(ONCE);
      assertThat(timing.variants()).extracting(Timed::variant).containsExactly(Variant.values());
      assertThat(timing.variants()).allMatch(t -> t.nanos().median() > 0 && t.error() >= 0);
    }
  }

  @Test
  void passesOverMemoryAreCounted() {
    assertThat(work(Pass.FORWARD))
        .containsExactly(new Work(12, 7), new Work(2, 7), new Work(7, 4), new Work(2, 4));
    assertThat(work(Pass.BACKWARD))
        .containsExactly(new Work(21, 11), new Work(3, 11), new Work(17, 8), new Work(3, 8));
  }

  private static Stream<Work> work(Pass pass) {
    Subject subject = new Subject(pass, ElementType.FLOAT32, Shape.of(8, 64));
    try (Processor processor = new CpuProcessor(1, Backend.best());
        Race<?> race = new Race<>(processor.ground(subject))) {
      return race.measure(ONCE).variants().stream().map(Timed::work);
    }
  }

  @Test
  void aWrongAnswerIsNotTimed() {
    Subject subject = new Subject(Pass.FORWARD, ElementType.FLOAT32, Shape.of(4, 64));
    try (Tensors tensors = new Tensors(subject.tensorBytes())) {
      MemorySegment zeros = tensors.take().fill((byte) 0);
      IntFunction<double[]> answer =
          row -> new Data(subject.type(), subject.shape()).read(zeros, row);
      assertThatThrownBy(() -> new Check(subject).error(Variant.RMS_FUSED, answer, null))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("RMSNorm fused, forward, float32, 4 x 64: an answer is off by");
    }
  }

  /** The last place of one element, which no bound of an error would show. */
  @Test
  void aFusedRowWithOtherBitsIsNotTimed() {
    Subject subject = new Subject(Pass.FORWARD, ElementType.FLOAT32, Shape.of(4, 64));
    Data data = new Data(subject.type(), subject.shape());
    try (Processor processor = new CpuProcessor(1, Backend.best());
        CpuGround ground = (CpuGround) processor.ground(subject)) {
      MemorySegment y = ground.contestant(Variant.RMS_FUSED).pass();
      double[] last = data.read(y, 3);
      last[63] = Math.nextUp((float) last[63]);
      data.write(y, 3, last);
      IntFunction<double[]> answer = row -> data.read(y, row);
      assertThatThrownBy(() -> new Check(subject).error(Variant.RMS_FUSED, answer, null))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage(
              "RMSNorm fused, forward, float32, 4 x 64: row 3 does not have the bits of this"
                  + " processor");
    }
  }

  @Test
  void naiveFloat16OverflowsWhereFusedDoesNot() {
    try (Processor processor = new CpuProcessor(1, Backend.best())) {
      for (boolean rms : new boolean[] {true, false}) {
        try (Ground<?> ground = processor.ground(HalfRow.subject())) {
          HalfRow row = HalfRow.of(variant(rms, false), variant(rms, true), ground);
          assertThat(row.fusedWrong()).isZero();
          assertThat(row.naiveWrong()).isGreaterThan(4000);
        }
      }
    }
  }

  private static Variant variant(boolean rms, boolean fused) {
    return Arrays.stream(Variant.values())
        .filter(v -> v.isRms() == rms && v.isFused() == fused)
        .findFirst()
        .orElseThrow();
  }
}
