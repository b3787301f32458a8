package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Systems;

/**
 * How far what lies at a place is from the exact answer: in each row (or sum over rows) the largest
 * distance, as a share of the largest exact element. NaN if there is one that should not be.
 */
final class Answer {
  /** Of this library's gradients: sums over a row or over all rows are rounded once more. */
  private static final double GRADIENT = 2e-5;

  /** Of others, float32: their sums are float, in whatever order. */
  private static final double FLOAT_SUMS = 1e-4;

  private static final double FLOAT64 = 1e-12;

  private final Place place;
  private double worst;

  private Answer(Place place) {
    this.place = place;
  }

  static double error(Place place, Definition definition) {
    Answer answer = new Answer(place);
    if (place.contest.backward()) {
      answer.gradients();
    } else {
      for (int r = 0; r < place.contest.rows(); r++) {
        answer.compare(place.row(place.y, r), definition.output().row(place, r));
      }
    }
    return answer.worst;
  }

  /**
   * How large the error may be: what this library promises, and a generous bound for others. A copy
   * has none.
   */
  static double allowed(Entrant entrant, Contest contest) {
    ElementType type = contest.type();
    if (type == ElementType.FLOAT64) {
      return FLOAT64;
    }
    double step = entrant.definition() == null ? 0 : entrant.definition().step();
    double roundings = type == ElementType.FLOAT32 ? 0 : type.unitRoundoff();
    if (!entrant.name().startsWith(Systems.OWN)) {
      // The published formula rounds to a narrow type twice, and its out= form more often.
      return FLOAT_SUMS + 3 * roundings + step;
    }
    if (contest.backward()) {
      return GRADIENT + roundings;
    }
    double float32 =
        ElementType.FLOAT32.unitRoundoff()
            * entrant.definition().roundings().applyAsDouble(contest.width());
    return float32 + roundings * (1 + float32) + step;
  }

  private void gradients() {
    int width = place.contest.width();
    double[] dgain = new double[width];
    double[] dbias = new double[width];
    for (int r = 0; r < place.contest.rows(); r++) {
      double[] dx = gradient(place, place.row(place.x, r), place.row(place.dy, r), dgain, dbias);
      compare(place.row(place.dx, r), dx);
    }
    compare(place.parameter(place.dgain), dgain);
    if (place.bias != null) {
      compare(place.parameter(place.dbias), dbias);
    }
  }

  /** A row of the exact dx; its share of the parameters' gradients is added to theirs. */
  static double[] gradient(Place place, double[] x, double[] dy, double[] dgain, double[] dbias) {
    return place.contest.kernel().gradient(x, dy, place.gain, place.epsilon, dgain, dbias);
  }

  private void compare(double[] got, double[] exact) {
    worst = Math.max(worst, distance(got, exact)); // NaN stays
  }

  /** The largest distance of two rows, as a share of the largest exact element. */
  static double distance(double[] got, double[] exact) {
    double size = 0;
    double off = 0;
    for (int i = 0; i < exact.length; i++) {
      size = Math.max(size, Math.abs(exact[i]));
      off = Math.max(off, apart(got[i], exact[i]));
    }
    return off == 0 ? 0 : off / size;
  }

  /** No distance between two that are no number. */
  static double apart(double got, double exact) {
    return Double.isNaN(got) && Double.isNaN(exact) ? 0 : Math.abs(got - exact);
  }
}
