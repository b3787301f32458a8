package io.github.rmsnorm4j.cli.compare;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.measure.Effort;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * Carries out a plan.
 *
 * @param plan what is measured
 * @param threads at most
 * @param backend the kernels of the fused norms
 * @param progress is told what is being done
 */
public record Comparison(Plan plan, int threads, Backend backend, Consumer<String> progress) {
  private static final int REHEARSAL_ELEMENTS = 1 << 19;

  /** Of a JVM that measures, apart from its tensors. */
  private static final long PROCESS_BYTES = 512 << 20;

  private static final Effort ROOF = new Effort(100_000_000, 5, 5_000_000);

  /** Measures all that is planned: memory first, while this process has no tensors. */
  public Results run(Results.Run run) throws IOException {
    long start = System.nanoTime();
    List<MemoryUse> memory = memory();
    try (Crew crew = new Crew(threads)) {
      List<HalfRow> halfRows =
          List.of(
              HalfRow.of(Variant.LAYER_NAIVE, Variant.LAYER_FUSED, crew, backend),
              HalfRow.of(Variant.RMS_NAIVE, Variant.RMS_FUSED, crew, backend));
      rehearse(crew);
      double roof = ComputeRoof.measure(threads, ROOF, crew);
      List<Timing> timings = new ArrayList<>();
      for (Subject subject : plan.times()) {
        progress.accept("time: " + subject);
        try (Race race = new Race(subject, crew, backend)) {
          timings.add(race.measure(plan.effort(subject)));
        }
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      return new Results(run, plan.headline(), timings, memory, roof, halfRows, notes(), seconds);
    }
  }

  /**
   * So that no subject pays for the compiler's work. Few rows take other ways through the library
   * than many, so each shape is rehearsed, large ones in part.
   */
  private void rehearse(Crew crew) {
    progress.accept("warming up");
    plan.times().stream()
        .map(Comparison::rehearsal)
        .distinct()
        .forEach(
            subject -> {
              try (Race race = new Race(subject, crew, backend)) {
                race.rehearse();
              }
            });
  }

  private static Subject rehearsal(Subject subject) {
    Shape shape = subject.shape();
    int rows = Math.clamp(REHEARSAL_ELEMENTS / shape.width(), 1, shape.rows());
    return new Subject(subject.pass(), subject.type(), Shape.of(rows, shape.width()));
  }

  private List<MemoryUse> memory() throws IOException {
    List<MemoryUse> memory = new ArrayList<>();
    if (PeakMemory.isTold()) {
      for (Subject subject : plan.memories()) {
        progress.accept("memory: " + subject);
        memory.addAll(memory(subject));
      }
    }
    return memory;
  }

  /** As many processes at once as there is memory for: what each takes is its own. */
  private List<MemoryUse> memory(Subject subject) throws IOException {
    long room = plan.availableBytes() / (Plan.needed(subject) + PROCESS_BYTES);
    int processors = Runtime.getRuntime().availableProcessors();
    List<Future<MemoryUse>> uses = new ArrayList<>();
    try (ExecutorService children = Executors.newFixedThreadPool(Math.clamp(room, 1, processors))) {
      for (Variant variant : Variant.values()) {
        uses.add(children.submit(() -> PeakMemory.measure(subject, variant, threads)));
      }
      List<MemoryUse> memory = new ArrayList<>();
      for (Future<MemoryUse> use : uses) {
        memory.add(use.get());
      }
      return memory;
    } catch (ExecutionException e) {
      throw new IOException("memory cannot be measured: " + e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private List<String> notes() {
    List<String> notes = new ArrayList<>(plan.notes());
    if (!PeakMemory.isTold()) {
      notes.add("Memory is not measured here: this system has no /proc/self/status.");
    }
    if (backend.vectorBits() == 0) {
      notes.add("The fused norms run without vectors: " + backend.reason());
    }
    return notes;
  }
}
