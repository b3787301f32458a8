package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.machine.MadeCode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a kernel is made for.
 *
 * @param stages done for a row, or for a few rows, one after the other
 * @param bits of a vector
 * @param width of the rows where the kernel is made for it; 0 for any
 * @param group rows that go through the stages together
 * @param bfloat16 whether the processor rounds to bfloat16 itself
 * @param streams whether the output has non-temporal stores; then it is aligned as the longest
 *     vectors are, or the kernel peels, see {@link #peels}
 * @param prefetched bytes of the longest elements that row sums prefetch; 0 for none
 * @param periods whether rows are not all at one stride, see {@link Area#UNTIL}
 */
record Target(
    List<Stage> stages,
    int bits,
    int width,
    int group,
    boolean bfloat16,
    boolean streams,
    int prefetched,
    boolean periods)
    implements MadeCode.Named {
  /** The same target for rows that are not all at one stride. */
  Target withPeriods() {
    return new Target(stages, bits, width, group, bfloat16, streams, prefetched, true);
  }

  /** Accumulators of all row sums of a stage, at most. */
  private static final int ACCUMULATORS = 8;

  /** The same for a stage with an exponential, which needs the rest of 16 registers. */
  private static final int ACCUMULATORS_OF_POWER = 4;

  /** What its listing is called: rows with their types, and the vectors. */
  @Override
  public String name() {
    StringBuilder name = new StringBuilder();
    for (Stage stage : stages) {
      name.append(name.isEmpty() ? "" : "_then_").append(stage.sums().isEmpty() ? "rows" : "sums");
      for (Map.Entry<Tensor, ElementType> rows : stage.rows().entrySet()) {
        name.append('_').append(rows.getKey()).append('_').append(rows.getValue());
      }
    }
    name.append(width > 0 ? "_width_" + width : "").append(streams ? "_streaming" : "");
    name.append(periods ? "_periods" : "");
    return name.append("_machine_").append(bits).toString().toLowerCase(Locale.ROOT);
  }

  /** The tensors of elements of all stages, in the order in which a call passes their bases. */
  List<Tensor> rows() {
    Set<Tensor> rows = new TreeSet<>();
    for (Stage stage : stages) {
      rows.addAll(stage.rows().keySet());
    }
    return List.copyOf(rows);
  }

  /**
   * Whether the last stage does a strip of columns of all rows that go together, then the next
   * strip: what it adds to columns stays in the first-level cache.
   */
  boolean hasStrips() {
    return width == 0 && group > 1;
  }

  /**
   * How many of the next rows go through the stages together.
   *
   * @param left rows that are not done
   */
  int together(int left) {
    return hasStrips() ? Math.min(group, left) : left >= group ? group : 1;
  }

  /** Whether rows have non-temporal stores. */
  boolean streams(Tensor rows) {
    return streams && (rows.equals(Forward.Y) || rows.equals(Backward.DX));
  }

  /**
   * Whether an output with non-temporal stores may be aligned as its elements are. Some elements
   * are then written twice, so nothing else may be written with them.
   */
  boolean peels() {
    Map<Tensor, ElementType> written = stages.getLast().written();
    if (width > 0 || written.size() != 1) {
      return false;
    }
    Tensor rows = written.keySet().iterator().next();
    return streams(rows) && isNonTemporal(written.get(rows));
  }

  /** Whether there are non-temporal stores: of bfloat16 only two vectors are long enough. */
  private boolean isNonTemporal(ElementType type) {
    return type != ElementType.BFLOAT16 || roundsPairs();
  }

  /** The rows that a stage prefetches: those that no stage before it has read or written. */
  Map<Tensor, ElementType> prefetched(Stage stage) {
    if (prefetched == 0) {
      return Map.of();
    }
    Map<Tensor, ElementType> rows = stage.rows();
    rows.keySet().retainAll(stage.read().keySet());
    rows.values().removeIf(type -> type.bytes() > prefetched);
    for (Stage before : stages.subList(0, stages.indexOf(stage))) {
      rows.keySet().removeAll(before.tensors().keySet());
    }
    return rows;
  }

  /**
   * The rows that a stage with row sums prefetches for a later one: what that reads first, if it is
   * from memory and has an exponential. So memory is read meanwhile, and the exponential does not
   * wait for it.
   */
  Map<Tensor, ElementType> prefetchedForLater(Stage stage) {
    Map<Tensor, ElementType> rows = new TreeMap<>();
    int at = stages.indexOf(stage);
    if (!streams || width > 0 || stage.sums().isEmpty()) {
      return rows;
    }
    for (Stage later : stages.subList(at + 1, stages.size())) {
      if (later.has(Value.Kind.POWER)) {
        rows.putAll(later.rows());
        rows.keySet().retainAll(later.read().keySet());
      }
    }
    for (Stage known : stages.subList(0, at + 1)) {
      rows.keySet().removeAll(known.tensors().keySet());
    }
    return rows;
  }

  boolean avx512() {
    return bits == 512;
  }

  /** Whether two vectors are rounded to bfloat16 together. */
  boolean roundsPairs() {
    return bfloat16 || !avx512();
  }

  /** Elements of a vector of a stage, which are all of them as many. */
  int elements(Stage stage) {
    boolean half = stage.hasFloat64Elements() || isCrowded(stage);
    return bits / (half ? Double.SIZE : Float.SIZE);
  }

  /** Whether 16 registers are too few for two vectors of a stage at a time. */
  private boolean isCrowded(Stage stage) {
    return !avx512()
        && stage.has(Value.Kind.POWER)
        && stage.written().size() > 1
        && stage.written().containsValue(ElementType.BFLOAT16);
  }

  /**
   * Vectors that the lanes of a row sum end in. Two where bfloat16 is read as the lower and upper
   * halves of ints: even elements in one vector, odd ones in the other.
   */
  int halves(Stage stage) {
    boolean bfloat16 = Set.of(ElementType.BFLOAT16).containsAll(stage.tensors().values());
    return bfloat16 && stage.written().isEmpty() ? 2 : 1;
  }

  /** The lane of a row sum that is at a place in memory, where the lanes of its blocks add up. */
  int lane(Stage stage, int at) {
    if (halves(stage) == 1) {
      return at;
    }
    int doubles = bits / Double.SIZE;
    int vector = at / doubles;
    return (vector & ~1) * doubles + 2 * (at % doubles) + (vector & 1);
  }

  /** Accumulators of each row sum of a stage: of all lanes, or of some that a sweep is for. */
  int accumulators(Stage stage) {
    boolean few = !avx512() && stage.has(Value.Kind.POWER);
    int most = few ? ACCUMULATORS_OF_POWER : ACCUMULATORS;
    return Math.min(SumOrder.LANES * Double.SIZE / bits, most / stage.sums().size());
  }

  /** How often a block is gone through, each time for some of the lanes. */
  int sweeps(Stage stage) {
    return SumOrder.LANES * Double.SIZE / bits / accumulators(stage);
  }
}
