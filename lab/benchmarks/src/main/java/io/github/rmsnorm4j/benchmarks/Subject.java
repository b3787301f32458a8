package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import java.lang.foreign.Arena;

/** What is measured: a norm, and the rows it works on. */
record Subject(
    Kernel kernel, ElementType type, Memory memory, int rows, int width, boolean inPlace, Job job) {

  Subject with(Job other) {
    return new Subject(kernel, type, memory, rows, width, inPlace, other);
  }

  /** Made ready, somewhere in memory. */
  Task task(Backend backend, Arena arena) {
    return switch (job) {
      case NORM -> new Workload(this, backend, arena);
      case BACKWARD -> new GradientTask(this, backend, arena);
      case ADD_AND_NORM -> new ResidualTask(this, backend, arena);
    };
  }

  int elements() {
    return Math.multiplyExact(rows, width);
  }

  /** For example {@code RMSNorm float32 128 x 4096, in place}. */
  @Override
  public String toString() {
    return "%s %s %s x %s%s%s%s"
        .formatted(
            kernel,
            type,
            rows,
            width,
            memory == Memory.NATIVE ? "" : memory == Memory.HEAP ? ", Java array" : ", mapped file",
            inPlace ? ", in place" : "",
            job);
  }
}
