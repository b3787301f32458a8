package io.github.rmsnorm4j.studies.compare;

/**
 * Sentences that differ between the processor and a GPU.
 *
 * @param run what was run on
 */
record Wording(Results.Run run) {
  /** What ran every variant. */
  String runner() {
    return run.isOnGpu() ? "Kernels on " + run.processor() : run.threads() + " threads at most";
  }

  String threads() {
    return run.isOnGpu() ? "those of the GPU" : String.valueOf(run.threads());
  }

  String clock() {
    return run.isOnGpu()
        ? "Times are between two events on %s: one before a run of calls, and one after it."
            .formatted(run.processor())
        : "Times are of the clock, on up to %s threads in every variant and the copy."
            .formatted(run.threads());
  }

  String shortMemory() {
    return run.isOnGpu()
        ? "what is allocated on the GPU at once"
        : "growth of a fresh process at its peak";
  }

  String memory() {
    return run.isOnGpu()
        ? "Memory is what a variant allocates on the GPU at once, when it runs once: input, output, temporaries and numbers of rows count, and for backward what the forward pass keeps. It is counted."
        : "Memory is the largest resident size of a fresh process that runs the variant once, minus its size before it made the first tensor: input, output and temporaries count, and for backward what the forward pass keeps.";
  }

  /** What else the reader must know. */
  String last() {
    return run.isOnGpu()
        ? "Naive, each operation is one kernel, made by the same compiler as the fused norm. It adds up rows in float64, as the fused norm does, and columns in float32."
        : "The compute roof is measured: a polynomial of 16 steps over numbers in the nearest cache.";
  }
}
