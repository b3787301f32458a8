package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.Map;
import java.util.TreeMap;

/**
 * A stage within a loop: the places of its elements, as local variables.
 *
 * @param frame the frame of the stage
 * @param sums whether it has row sums: then a sweep does some of the lanes of all elements;
 *     otherwise it does everything for some of the elements
 * @param elements the number of elements of a vector
 * @param step the distance from one vector of elements to the next
 * @param count the number of vectors of a step of the loop
 * @param paired whether elements come as two vectors, the even ones and the odd ones
 * @param pointers the places of the first element of the row in the loop
 */
record Place(
    Stage stage,
    int frame,
    boolean sums,
    int elements,
    int step,
    int count,
    boolean paired,
    Map<Tensor, Pointer> pointers) {

  /**
   * The place of elements, or of numbers of columns or rows: in an array from an index on, or at an
   * address.
   *
   * @param array a local, -1 in native memory
   * @param offset a local: bytes, or the address, of the rectangle
   * @param stride a local: bytes from row to row; -1 for columns
   * @param start a local: the first element of the row, or the first column
   * @param at a local: the first element of the step
   */
  record Pointer(
      ElementType type, Memory memory, int array, int offset, int stride, int start, int at) {
    boolean heap() {
      return memory == Memory.HEAP;
    }

    Pointer at(int start, int at) {
      return new Pointer(type, memory, array, offset, stride, start, at);
    }
  }

  /** The width in bits of a vector of so many floats, or doubles. */
  int bits(boolean float64) {
    return VectorCode.bits(elements, float64);
  }

  /** The number of vectors for the elements of a step: even and odd ones, or all in one. */
  int halves() {
    return paired ? 2 : 1;
  }

  /** This place for another row. */
  Place again() {
    return new Place(stage, frame, sums, elements, step, count, paired, new TreeMap<>(pointers));
  }

  /** Columns from the first one of a step to those of a vector, or of the odd half of a pair. */
  int columnOffset(int index, boolean odd) {
    return paired ? RowSum.evenFirst(index * step + (odd ? 1 : 0)) : index * step;
  }

  static Place of(Target target, int index, int frame) {
    Stage stage = target.stages().get(index);
    boolean sums = !stage.sums().isEmpty();
    boolean paired = target.pairs(stage);
    int elements = target.elements(stage);
    int share = SumOrder.LANES / target.sweeps() / elements;
    int stores = target.stages().size() > 1 ? share : Schedule.vectors(stage, share);
    int vectors = sums ? target.vectors() : stores;
    int step = sums ? target.apart() : elements;
    return new Place(
        stage,
        frame,
        sums,
        elements,
        paired ? 2 * step : step,
        paired ? Math.max(1, vectors / 2) : vectors,
        paired,
        new TreeMap<>());
  }
}
