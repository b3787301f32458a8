package io.github.rmsnorm4j.benchmarks;

/** What is done with a norm. */
enum Job {
  NORM(""),
  BACKWARD(", backward"),
  /** Row and residual added and normalized in one call. */
  ADD_AND_NORM(", added to a residual");

  private final String title;

  Job(String title) {
    this.title = title;
  }

  /** Follows the name of the norm. */
  @Override
  public String toString() {
    return title;
  }
}
