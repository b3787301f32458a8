package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.kernel.Memory;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A way through the lowering: what tells kernels apart, and calls of them.
 *
 * @param narrow whether the kernel is made for a width
 * @param paired whether bfloat16 is read and written two elements at a time
 * @param loop how the loop over elements goes
 * @param behind whether there are elements behind the last whole 32
 */
record Way(Kind kind, boolean narrow, boolean paired, String loop, String behind, String memory) {
  enum Kind {
    SUMS,
    STORES,
    COLUMN_SUMS,
    STAGGERED,
    OF_ROWS,
    FIRST
  }

  static final String SWEEP = "one sweep";
  static final String SWEEPS = "several sweeps";
  static final String ONE_ROW = "row by row";
  static final String TWO_ROWS = "two rows at a time";
  static final String NO_TAIL = "no tail";
  static final String TAIL = "tail";
  static final String TAIL_ALONE = "tail alone";

  static Way ofRows(String loop) {
    return new Way(Kind.OF_ROWS, false, false, loop, null, null);
  }

  static Way first(String memory) {
    return new Way(Kind.FIRST, false, false, null, null, memory);
  }

  /** Every way that kernels of some vectors can take, but those with several kinds of memory. */
  static Set<Way> all(int bits) {
    Set<Way> ways = new LinkedHashSet<>();
    List.of("choice", "too large", "few", "vectors").forEach(loop -> ways.add(ofRows(loop)));
    for (Memory memory : Memory.values()) {
      ways.add(first(memory.toString()));
      for (String behind : List.of(NO_TAIL, TAIL, TAIL_ALONE)) {
        addAll(ways, bits, false, behind, memory.toString());
        if (bits > 0) {
          addAll(ways, bits, true, behind, memory.toString());
        }
      }
    }
    return ways;
  }

  private static void addAll(Set<Way> ways, int bits, boolean paired, String behind, String in) {
    ways.add(new Way(Kind.STORES, false, paired, SWEEP, behind, in));
    ways.add(new Way(Kind.COLUMN_SUMS, false, paired, ONE_ROW, behind, in));
    ways.add(new Way(Kind.COLUMN_SUMS, false, paired, TWO_ROWS, behind, in));
    if (behind.equals(NO_TAIL)) {
      ways.add(new Way(Kind.STORES, true, paired, SWEEP, behind, in));
      ways.add(new Way(Kind.COLUMN_SUMS, true, paired, SWEEP, behind, in));
    }
    addSums(ways, bits, paired, SWEEPS, behind, in);
    if (bits > 128) {
      // All lanes of 128 bits are 16 accumulators, more than a sweep has.
      addSums(ways, bits, paired, SWEEP, behind, in);
    }
  }

  private static void addSums(
      Set<Way> ways, int bits, boolean paired, String loop, String behind, String in) {
    // A half of 32 elements is less than a pair of vectors of 512 bits. At 256 bits a sweep of all
    // 32 with pairs is more than the budget of a loop.
    boolean shares = !paired || loop.equals(SWEEPS) == (bits == 256);
    ways.add(new Way(Kind.SUMS, false, paired, loop, behind, in));
    if (shares && !behind.equals(TAIL_ALONE)) {
      ways.add(new Way(Kind.STAGGERED, false, paired, loop, behind, in));
    }
    if (behind.equals(NO_TAIL)) {
      ways.add(new Way(Kind.SUMS, true, paired, loop, behind, in));
    }
    if (shares && behind.equals(NO_TAIL)) {
      ways.add(new Way(Kind.STAGGERED, true, paired, loop, behind, in));
    }
  }
}
