package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** One call of a norm on one thread, its answer checked before anything is timed. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 1,
    jvmArgsAppend = {"--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"})
public class NormBenchmark {
  /** Which norm. */
  @Param({"RMS_NORM", "LAYER_NORM"})
  public Kernel kernel;

  /** How elements are stored. */
  @Param({"FLOAT32", "FLOAT64", "FLOAT16", "BFLOAT16"})
  public ElementType type;

  /** Where the rows lie. */
  @Param({"NATIVE", "HEAP"})
  public Memory memory;

  /** Rows x width. */
  @Param({"1x4096", "128x4096", "8192x4096", "4096x64"})
  public String shape;

  /** Whether the result replaces the rows. */
  @Param({"false", "true"})
  public boolean inPlace;

  /** Whether the process is polluted before the measurement. */
  @Param({"false", "true"})
  public boolean polluted;

  private Arena arena;
  private Workload work;

  /** For JMH. */
  public NormBenchmark() {}

  /** Fills memory, pollutes if asked to, and checks the answer. */
  @Setup(Level.Trial)
  public void prepare() {
    Backend backend = Backend.best();
    if (polluted) {
      Pollution.run(backend, false);
    }
    String[] sides = shape.split("x", 2);
    int rows = Integer.parseInt(sides[0]);
    int width = Integer.parseInt(sides[1]);
    arena = Arena.ofConfined();
    Subject subject = new Subject(kernel, type, memory, rows, width, inPlace, Job.NORM);
    work = new Workload(subject, backend, arena);
    work.check();
  }

  /** Gives the memory back. */
  @TearDown(Level.Trial)
  public void close() {
    arena.close();
  }

  /** The norm. */
  @Benchmark
  public void apply() {
    work.run();
  }
}
