package io.github.rmsnorm4j.benchmarks;

/** Something to be timed, made ready. */
interface Task {
  /** One call. */
  void run();

  /** Copies as many bytes as a call reads, to as many as it writes, or the mean of both. */
  void copy();

  /**
   * Makes the first call and compares all that it wrote with the definition.
   *
   * @throws IllegalStateException if something is farther off than is allowed
   */
  void check();
}
