package io.github.rmsnorm4j.studies.compare;

/** Counts what operations do to each element. */
final class WorkCount {
  private int passes;
  private int operations;

  /** One operation, which reads or writes so many tensors from end to end. */
  void add(int tensors) {
    passes += tensors;
    operations++;
  }

  /** What has been done since this was asked before. */
  Work take() {
    Work done = new Work(passes, operations);
    passes = 0;
    operations = 0;
    return done;
  }
}
