package io.github.rmsnorm4j.cuda.check;

/** Says what is at work. */
@FunctionalInterface
public interface Progress {
  /**
   * Something begins.
   *
   * @param part of the check
   * @param step which one, from 1 on
   * @param steps of how many
   * @param what is done
   */
  void step(String part, int step, int steps, String what);
}
