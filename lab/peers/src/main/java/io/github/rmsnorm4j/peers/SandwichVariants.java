package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.benchmarks.VectorSum;
import io.github.rmsnorm4j.benchmarks.peers.Variant;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import io.github.rmsnorm4j.reference.Definitions;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * A norm, the addition to the residual, and the norm of the sum: in one, two and three calls.
 *
 * @param variants of the contest
 */
record SandwichVariants(Variants variants) {
  /** Two norms, each with its roundings, and a sum, which may be smaller than its terms. */
  private static final double ROUNDINGS = 16;

  Stream<Entrant> entrants() {
    return Stream.of(
        entrant(Variant.SANDWICH, (norm, rows) -> norm.applyAndAdd(rows.x, rows.h, norm, rows.y)),
        entrant(
            Variant.SANDWICH_IN_TWO,
            (norm, rows) -> {
              norm.apply(rows.x, rows.v);
              norm.addAndApply(rows.v, rows.h, rows.y);
            }),
        entrant(
            Variant.SANDWICH_IN_THREE,
            (norm, rows) -> {
              norm.apply(rows.x, rows.v);
              add(rows.v.segment(), rows.h.segment());
              norm.apply(rows.h, rows.y);
            }));
  }

  private Entrant entrant(Variant variant, Calls calls) {
    return variants.entrant(
        variant,
        Definition.of(
            (place, r) -> Definitions.rmsNorm(sum(place, r), place.gain, null, place.epsilon),
            ROUNDINGS),
        (place, _) -> ready(place, calls));
  }

  private Turn ready(Place place, Calls calls) {
    Norm norm = variants.norm(place, variants.spec(place), place.gain);
    MemorySegment h = place.rows().copyFrom(place.second());
    FourRows rows =
        new FourRows(
            place.view(place.x), place.view(place.rows()), place.view(h), place.view(place.y));
    return new Turn() {
      @Override
      public void run() {
        calls.run(norm, rows);
      }

      /** The new residual is an answer, too. Other turns have other residuals. */
      @Override
      public void collect() {
        for (int r = 0; r < place.contest.rows(); r++) {
          double error = Answer.distance(place.row(h, r), sum(place, r));
          if (!(error <= ROUNDINGS * ElementType.FLOAT32.unitRoundoff())) {
            throw new AssertionError("the error of residual " + r + " is " + error);
          }
        }
      }
    };
  }

  /** The new residual. */
  private static double[] sum(Place place, int row) {
    double[] x = place.row(place.x, row);
    double[] sum = Definitions.rmsNorm(x, place.gain, null, place.epsilon);
    double[] residual = place.second(row);
    Arrays.setAll(sum, i -> sum[i] + residual[i]);
    return sum;
  }

  /** Each kind of memory has a loop of its own, as in a program: one for both would be slow. */
  private static void add(MemorySegment from, MemorySegment into) {
    if (from.isNative()) {
      VectorSum.add(from, into);
    } else {
      add((float[]) from.heapBase().orElseThrow(), (float[]) into.heapBase().orElseThrow());
    }
  }

  private static void add(float[] from, float[] into) {
    for (int i = 0; i < into.length; i++) {
      into[i] += from[i];
    }
  }

  /** The row, its norm, the residual and the norm of the sum. */
  private record FourRows(Rows x, Rows v, Rows h, Rows y) {}

  private interface Calls {
    void run(Norm norm, FourRows rows);
  }
}
