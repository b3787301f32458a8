package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.measure.Machine;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** The processor of this machine. */
public final class CpuProcessor implements Processor {
  /** Of a JVM that measures, apart from its tensors. */
  private static final long PROCESS_BYTES = 512 << 20;

  /** From which size on a tensor is more than fresh processes differ by, which is some MiB. */
  static final long SEEN_IN_A_PROCESS = 1 << 24;

  private static final Effort ROOF = new Effort(100_000_000, 5, 5_000_000);

  private final int threads;
  private final Backend backend;
  private final Crew crew;
  private final long available = AvailableMemory.bytes();

  /**
   * Of so many threads.
   *
   * @param backend the kernels of the fused norms
   */
  public CpuProcessor(int threads, Backend backend) {
    this.threads = threads;
    this.backend = backend;
    crew = new Crew(threads);
  }

  @Override
  public String name() {
    return CPU;
  }

  @Override
  public Machine machine() {
    return Machine.thisOne(backend);
  }

  @Override
  public int threads() {
    return threads;
  }

  @Override
  public long availableBytes() {
    return available;
  }

  @Override
  public long leastSeenBytes() {
    return SEEN_IN_A_PROCESS;
  }

  @Override
  public Ground<?> ground(Subject subject) {
    return CpuGround.of(subject, crew, backend);
  }

  @Override
  public double computeRoof() {
    return ComputeRoof.measure(threads, ROOF, crew);
  }

  @Override
  public List<MemoryUse> memory(Plan plan, Consumer<String> progress) throws IOException {
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
    long room = available / (Plan.needed(subject) + PROCESS_BYTES);
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

  @Override
  public List<String> notes() {
    List<String> notes = new ArrayList<>();
    if (!PeakMemory.isTold()) {
      notes.add("Memory is not measured here: this system has no /proc/self/status.");
    }
    if (backend.vectorBits() == 0) {
      notes.add("The fused norms run without vectors: " + backend.reason());
    }
    return notes;
  }

  @Override
  public void close() {
    crew.close();
  }
}
