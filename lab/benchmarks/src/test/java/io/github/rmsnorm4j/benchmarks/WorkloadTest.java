package io.github.rmsnorm4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WorkloadTest {
  static List<Subject> subjects() {
    List<Subject> all = new ArrayList<>();
    for (Kernel kernel : Kernel.values()) {
      for (ElementType type : ElementType.values()) {
        for (Memory memory : Memory.values()) {
          for (boolean inPlace : new boolean[] {false, true}) {
            all.add(new Subject(kernel, type, memory, 3, 100, inPlace, Job.NORM));
          }
        }
      }
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("subjects")
  void rightAnswersPassAndWrongOnesDoNot(Subject subject) {
    try (Arena arena = Arena.ofConfined()) {
      Workload work = new Workload(subject, Backend.best(), arena);
      assertThatThrownBy(work::compare)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(
              subject + " on " + Backend.best().describe() + ": row 0, element 0");

      assertThatCode(work::check).doesNotThrowAnyException();
    }
  }
}
