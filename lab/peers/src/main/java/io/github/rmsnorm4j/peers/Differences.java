package io.github.rmsnorm4j.peers;

import java.lang.foreign.Arena;

/**
 * The gradient that a system's own output has, whatever the system says of it: elements are moved a
 * little either way, and how the output answers is measured.
 */
final class Differences {
  /** A gradient of a float32 output is known so well, as a share of its largest element. */
  static final double ALLOWED = 1e-3;

  /** Exact in float32, as the elements are. */
  private static final double STEP = 1.0 / 32;

  /** Of the fourth order: the error goes with the fourth power of the step. */
  private static final double[][] STENCIL = {
    {-2, 1 / 12.0}, {-1, -8 / 12.0}, {1, 8 / 12.0}, {2, -1 / 12.0}
  };

  private Differences() {}

  /** dx of the place's only row, from the system's forward pass over as many rows as it takes. */
  static double[] of(Place place, Entrant forward, Arena arena) {
    double[] x = place.row(place.x, 0);
    double[][] moved = new double[x.length * STENCIL.length][];
    for (int r = 0; r < moved.length; r++) {
      moved[r] = x.clone();
      moved[r][r / STENCIL.length] += STEP * STENCIL[r % STENCIL.length][0];
    }
    Place all = Place.like(place, moved, arena);
    forward.answer(all, 1);
    double[] dy = place.row(place.dy, 0);
    double[] dx = new double[x.length];
    for (int r = 0; r < moved.length; r++) {
      double weight = STENCIL[r % STENCIL.length][1] / STEP;
      dx[r / STENCIL.length] += weight * dot(dy, all.row(all.y, r));
    }
    return dx;
  }

  private static double dot(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }
}
