package io.github.rmsnorm4j.studies.compare;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Carries out a plan.
 *
 * @param plan what is measured
 * @param processor what runs the variants
 * @param progress is told what is being done
 */
public record Comparison(Plan plan, Processor processor, Consumer<String> progress) {
  private static final int REHEARSAL_ELEMENTS = 1 << 19;

  /** Measures all that is planned: memory first, while this process has no tensors. */
  public Results run(Results.Run run) throws IOException {
    long start = System.nanoTime();
    List<MemoryUse> memory = processor.memory(plan, progress);
    List<HalfRow> halfRows =
        List.of(
            halfRow(Variant.LAYER_NAIVE, Variant.LAYER_FUSED),
            halfRow(Variant.RMS_NAIVE, Variant.RMS_FUSED));
    rehearse();
    double roof = processor.computeRoof();
    List<Timing> timings = new ArrayList<>();
    for (Subject subject : plan.times()) {
      progress.accept("time: " + subject);
      try (Race<?> race = new Race<>(processor.ground(subject))) {
        timings.add(race.measure(plan.effort(subject)));
      }
    }
    List<String> notes = new ArrayList<>(plan.notes());
    notes.addAll(processor.notes());
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Results(run, plan.headline(), timings, memory, roof, halfRows, notes, seconds);
  }

  private HalfRow halfRow(Variant naive, Variant fused) {
    try (Ground<?> ground = processor.ground(HalfRow.subject())) {
      return HalfRow.of(naive, fused, ground);
    }
  }

  /**
   * So that no subject pays for the compiler's work. Few rows take other ways through the library
   * than many, so each shape is rehearsed, large ones in part.
   */
  private void rehearse() {
    progress.accept("warming up");
    plan.times().stream()
        .map(Comparison::rehearsal)
        .distinct()
        .forEach(
            subject -> {
              try (Race<?> race = new Race<>(processor.ground(subject))) {
                race.rehearse();
              }
            });
  }

  private static Subject rehearsal(Subject subject) {
    Shape shape = subject.shape();
    int rows = Math.clamp(REHEARSAL_ELEMENTS / shape.width(), 1, shape.rows());
    return new Subject(subject.pass(), subject.type(), Shape.of(rows, shape.width()));
  }
}
