package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.RowNumber;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What a kernel is made for.
 *
 * @param parts one, or one that sums rows and one that stores others, in the same loop
 * @param memory of each part's operands
 * @param bits of a vector
 * @param width of rows that are narrow and a multiple of 32 elements, so that a kernel is made for
 *     it; 0 for rows of any width
 * @param paired whether bfloat16 rows are read and written two elements at a time, as ints: then
 *     the even elements are one vector and the odd ones another, and columns lie with the even ones
 *     of every 32 first
 */
record Target(
    List<Part> parts, List<Map<Operand, Memory>> memory, int bits, int width, boolean paired) {

  /** How often the elements of a block are gone through, each time for some of the lanes. */
  int sweeps() {
    Part part = parts.getFirst();
    return RowSum.LANES / doubles() / Schedule.accumulators(part, doubles());
  }

  /** Float64 numbers in a vector. */
  int doubles() {
    return bits / Double.SIZE;
  }

  /** Accumulators of each row sum. */
  int vectors() {
    return RowSum.LANES / doubles() / sweeps();
  }

  /**
   * Whether a kernel for one width leaves one vector of each row sum, or one of each half of a
   * pair, and not one of each sweep.
   */
  boolean leavesOneVector() {
    return Schedule.sumsAtOnce(parts.getFirst(), RowSum.LANES / doubles());
  }

  /**
   * Elements from an accumulator to the next: as far apart as can be, so that the first sweep
   * brings every cache line of the rows, in order, and the others find them there.
   */
  int apart() {
    return RowSum.LANES / vectors();
  }

  /** Elements of a vector of a part, which are all of them as many. */
  int elements(Part part) {
    return bits / (part.hasFloat64Elements() ? Double.SIZE : Float.SIZE);
  }

  /**
   * Whether its part is of rows and done a vector of them at a time. One that chooses is not: the
   * JIT boxes what it chooses from.
   */
  boolean hasVectorsOfRows() {
    Part part = parts.getFirst();
    return part.isOfRows() && part.statements().stream().noneMatch(s -> chooses(s.value()));
  }

  private static boolean chooses(Value value) {
    boolean any = value instanceof Value.Choice;
    for (Value part : value.parts()) {
      any |= chooses(part);
    }
    return any;
  }

  /** The numbers of rows that its part is made of. */
  Set<RowNumber> rowNumbers() {
    Set<RowNumber> numbers = EnumSet.noneOf(RowNumber.class);
    parts.getFirst().statements().forEach(s -> collect(s.value(), numbers));
    return numbers;
  }

  private static void collect(Value value, Set<RowNumber> into) {
    if (value instanceof Value.OfRow(RowNumber number)) {
      into.add(number);
    }
    for (Value part : value.parts()) {
      collect(part, into);
    }
  }

  /** What stack traces show: rows, their types and memory, and the vectors. */
  String name() {
    StringBuilder name = new StringBuilder();
    for (int p = 0; p < parts.size(); p++) {
      Part part = parts.get(p);
      name.append(p == 0 ? "" : "_with_").append(part.sums().isEmpty() ? "rows" : "sums");
      for (Map.Entry<Operand, ElementType> rows : part.operands().entrySet()) {
        name.append('_').append(rows.getKey()).append('_').append(rows.getValue());
        name.append('_').append(memory.get(p).get(rows.getKey()));
      }
    }
    name.append(width > 0 ? "_width_" + width : "").append(paired ? "_paired" : "");
    return name.append('_').append(bits).toString().toLowerCase(Locale.ROOT);
  }

  /** Whether the rows of a part are read and written two elements at a time. */
  boolean pairs(Part part) {
    return paired && isBfloat16(part);
  }

  /** Whether all rows of a part are bfloat16. */
  static boolean isBfloat16(Part part) {
    Map<Operand, ElementType> rows = part.operands();
    return !rows.isEmpty() && rows.values().stream().allMatch(t -> t == ElementType.BFLOAT16);
  }
}
