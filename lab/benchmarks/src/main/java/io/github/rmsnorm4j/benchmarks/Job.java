package io.github.rmsnorm4j.benchmarks;

/** What is done with a norm. */
enum Job {
  NORM(""),
  BACKWARD(", backward"),
  /** Row and residual added and normalised in one call. */
  ADD_AND_NORM(", added to a residual"),
  /** Row and residual added by a vector loop, then normalised. */
  ADD_THEN_NORM(", after a residual");

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
