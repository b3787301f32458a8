package io.github.rmsnorm4j.studies.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.studies.compare.Plan.Extent;
import org.junit.jupiter.api.Test;

class PlanTest {
  private static final long GIB = 1L << 30;

  @Test
  void theExperimentIsMeasuredWhereItFits() {
    Plan plan = plan(null, null, Extent.USUAL, 64 * GIB);
    assertThat(plan.headline()).hasToString("forward, float32, 128 x 1024 x 4096");
    assertThat(plan.notes()).isEmpty();
    assertThat(plan.times())
        .extracting(s -> s.shape().toString())
        .containsExactly(
            "1 x 4096",
            "4096 x 64",
            "128 x 4096",
            "2 x 1024 x 4096",
            "8 x 1024 x 4096",
            "32 x 1024 x 4096",
            "128 x 1024 x 4096");
    assertThat(plan.memories()).hasSize(4).contains(plan.headline());
  }

  @Test
  void otherwiseTheLargestBatchThatFitsIsAndTheReaderIsTold() {
    Plan plan = plan(null, null, Extent.USUAL, 4 * GIB);
    int batch = plan.headline().shape().batch();
    assertThat(batch).isBetween(60, 68); // 3 tensors of 16 MiB a batch in 0.8 of 4 GiB
    assertThat(plan.notes())
        .singleElement()
        .asString()
        .contains("128 x 1024 x 4096 needs 6.01 GiB", batch + " x 1024 x 4096 is measured");
  }

  @Test
  void fullAddsTheWayBackAndNarrowTypes() {
    assertThat(plan(null, null, Extent.FULL, 64 * GIB).times())
        .extracting(s -> s.pass() + " " + s.type())
        .containsOnly(
            "forward float32",
            "backward float32",
            "forward float16",
            "backward float16",
            "forward bfloat16",
            "backward bfloat16");
    assertThat(plan(null, ElementType.FLOAT16, Extent.FULL, 64 * GIB).times())
        .allMatch(s -> s.type() == ElementType.FLOAT16);
  }

  @Test
  void aShapeThatIsAskedForIsMeasuredOrRefused() {
    Shape shape = Shape.of(64, 512, 1024);
    Plan plan = plan(shape, null, Extent.USUAL, 4 * GIB);
    assertThat(plan.headline().shape()).isEqualTo(shape);
    assertThat(plan.times()).extracting(s -> s.shape().batch()).containsExactly(1, 4, 16, 64);
    assertThatThrownBy(() -> plan(shape, null, Extent.USUAL, GIB / 4))
        .hasMessageContaining("--shape is 64x512x1024")
        .hasMessageContaining("its first number may be at most 33");
    assertThatThrownBy(() -> plan(shape, null, Extent.USUAL, 1 << 20))
        .hasMessageContaining("make it smaller");
  }

  @Test
  void memoryOfSmallTensorsIsLeftOutAndTheReaderIsTold() {
    Plan plan = plan(Shape.of(64, 512, 1024), null, Extent.USUAL, 4 * GIB);
    assertThat(plan.memories()).extracting(s -> s.shape().batch()).containsExactly(16, 64);
    assertThat(plan.notes()).singleElement().asString().contains("below 16.0 MiB");
  }

  @Test
  void noLargerThanFits() {
    for (long available = GIB; available < 40 * GIB; available += GIB / 3) {
      long room = available;
      assertThat(plan(null, null, Extent.FULL, available).times())
          .allMatch(s -> Race.tensorsHeld(s.pass()) * s.tensorBytes() < 0.8 * room);
    }
  }

  private static Plan plan(Shape shape, ElementType type, Extent extent, long available) {
    return Plan.of(shape, type, extent, available, CpuProcessor.SEEN_IN_A_PROCESS);
  }
}
