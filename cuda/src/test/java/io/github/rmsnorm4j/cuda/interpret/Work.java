package io.github.rmsnorm4j.cuda.interpret;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** How many instructions threads have done, and what they asked of memory. */
public final class Work {
  /** By line of the text. */
  private long[] counts = {};

  private String[] names = {};

  private final Traffic traffic = new Traffic();
  private final long most;
  private long left;

  /**
   * Nothing is done yet.
   *
   * @param most instructions of all threads, beyond which a launch counts as endless
   */
  public Work(long most) {
    this.most = most;
    left = most;
  }

  void add(Instruction instruction, int threads) {
    int line = instruction.line();
    left -= threads;
    if (left < 0) {
      throw instruction.fault("threads have not ended after " + most + " instructions");
    }
    if (line >= counts.length) {
      counts = Arrays.copyOf(counts, 2 * line);
      names = Arrays.copyOf(names, 2 * line);
    }
    if (counts[line] == 0) {
      names[line] = instruction.name();
    }
    counts[line] += threads;
  }

  /** {@return what they asked of memory} */
  public Traffic traffic() {
    return traffic;
  }

  /** {@return how often each operation was done, over all threads} */
  public Map<String, Long> byOperation() {
    Map<String, Long> sums = new TreeMap<>();
    for (int line = 0; line < counts.length; line++) {
      if (counts[line] > 0) {
        sums.merge(names[line], counts[line], Long::sum);
      }
    }
    return sums;
  }

  /** {@return the labels that threads came past, without their numbers} */
  public Set<String> reached(PtxProgram program) {
    Set<String> reached = new TreeSet<>();
    program
        .labels()
        .forEach(
            (label, line) -> {
              if (line < counts.length && counts[line] > 0) {
                reached.add(label.replaceFirst("_\\d+$", ""));
              }
            });
    return reached;
  }

  /** {@return the instructions of all threads together} */
  public long instructions() {
    return Arrays.stream(counts).sum();
  }
}
