package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Everything on which the class of a kernel depends.
 *
 * @param stages one stage, or one that sums rows and one that stores others, in the same loop
 * @param memory the memory of the operands of each stage
 * @param bits the width of a vector
 * @param width the width, if rows are narrow and a multiple of 32 elements wide and the kernel is
 *     made for that width; 0 for rows of any width
 * @param paired whether bfloat16 rows are read and written two elements at a time, as ints: then
 *     the even elements are one vector and the odd ones another, and columns lie with the even ones
 *     of every 32 first
 */
record Target(
    List<Stage> stages, List<Map<Tensor, Memory>> memory, int bits, int width, boolean paired) {

  /** The number of sweeps over the elements of a block, each for some of the lanes. */
  int sweeps() {
    Stage stage = stages.getFirst();
    return SumOrder.LANES / doubles() / Schedule.accumulators(stage, doubles());
  }

  /** Float64 numbers in a vector. */
  int doubles() {
    return bits / Double.SIZE;
  }

  /** Accumulators of each row sum. */
  int vectors() {
    return SumOrder.LANES / doubles() / sweeps();
  }

  /**
   * Whether a kernel for one width leaves one vector for each row sum, or one for each half of a
   * pair, and not one for each sweep.
   */
  boolean leavesOneVector() {
    return Schedule.sumsAtOnce(stages.getFirst(), SumOrder.LANES / doubles());
  }

  /**
   * The distance in elements from an accumulator to the next. It is as large as possible, so that
   * the first sweep loads every cache line of the rows, in order, and the others find them in the
   * cache.
   */
  int apart() {
    return SumOrder.LANES / vectors();
  }

  /** The number of elements of every vector of a stage. */
  int elements(Stage stage) {
    return bits / (stage.hasFloat64Elements() ? Double.SIZE : Float.SIZE);
  }

  /**
   * Whether its stage is of rows and runs on a vector of rows at a time. A stage with a choice does
   * not, and neither does one with a large loop, such as one that rounds to 16 bits several times:
   * the JIT boxes the vectors of a choice, and sometimes those of a large loop.
   */
  boolean hasVectorsOfRows() {
    Stage stage = stages.getFirst();
    boolean chooses = stage.has(Value.Kind.ABOVE) || stage.has(Value.Kind.AT_LEAST);
    return stage.isOfRows() && !chooses && Schedule.fitsRows(Cost.ofRows(stage));
  }

  /** The places of the numbers of rows that its stage reads. */
  int[] rowNumbers() {
    return stages.getFirst().values().stream()
        .filter(value -> value.kind() == Value.Kind.ROW)
        .mapToInt(value -> value.tensor().place())
        .toArray();
  }

  /** The name in stack traces: rows, their types and memory, and the vectors. */
  String name() {
    StringBuilder name = new StringBuilder();
    for (int p = 0; p < stages.size(); p++) {
      Stage stage = stages.get(p);
      name.append(p == 0 ? "" : "_with_").append(stage.sums().isEmpty() ? "rows" : "sums");
      for (Map.Entry<Tensor, ElementType> rows : stage.rows().entrySet()) {
        name.append('_').append(rows.getKey()).append('_').append(rows.getValue());
        name.append('_').append(memory.get(p).get(rows.getKey()));
      }
    }
    name.append(width > 0 ? "_width_" + width : "").append(paired ? "_paired" : "");
    return name.append('_').append(bits).toString().toLowerCase(Locale.ROOT);
  }

  /** Whether the rows of a stage are read and written two elements at a time. */
  boolean pairs(Stage stage) {
    return paired && isBfloat16(stage);
  }

  /** Whether all rows of a stage are bfloat16. */
  static boolean isBfloat16(Stage stage) {
    Map<Tensor, ElementType> rows = stage.rows();
    return !rows.isEmpty() && rows.values().stream().allMatch(t -> t == ElementType.BFLOAT16);
  }
}
