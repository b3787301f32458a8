package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.benchmarks.Kernel;
import java.util.function.IntToDoubleFunction;

/**
 * What a forward pass must give.
 *
 * @param output in float64
 * @param roundings how far this library may be off, for each width: so many float32 roundings of
 *     the largest element
 * @param step how far off a quantised element may be, as a share of the largest element of its row;
 *     0 where nothing is quantised
 */
record Definition(Output output, IntToDoubleFunction roundings, double step) {
  /** A plain norm. */
  static Definition of(Kernel kernel) {
    Output output =
        (place, r) ->
            kernel.reference(place.row(place.x, r), place.gain, place.bias, place.epsilon);
    return new Definition(output, kernel::roundings, 0);
  }

  /** Something that takes more operations. */
  static Definition of(Output output, double roundings) {
    return new Definition(output, _ -> roundings, 0);
  }

  /** The same, stored as codes and scales. */
  Definition quantised(double stepOfCodes) {
    return new Definition(output, roundings, stepOfCodes);
  }

  /** The rows of an output. */
  @FunctionalInterface
  interface Output {
    /** A row, computed from what lies at a place. */
    double[] row(Place place, int row);
  }
}
