package io.github.rmsnorm4j.peers;

import static io.github.rmsnorm4j.ElementType.FLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.benchmarks.Kernel.LAYER_NORM;
import static io.github.rmsnorm4j.benchmarks.Kernel.RMS_NORM;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Trap;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Rows on which systems have been seen to fail, put before all of them. */
final class Traps {
  private static final double[] SMALL_ROW = {1, -2, 3, -4, 5, -6, 7, -8};

  private static final List<Case> CASES =
      List.of(
          new Case(RMS_NORM, "1e20 x [1 -2 3 ... -8]", FLOAT32, 1e-6, scaled(1e20)),
          new Case(RMS_NORM, "1e-30 x [1 -2 3 ... -8], epsilon 0", FLOAT32, 0, scaled(1e-30)),
          new Case(RMS_NORM, "float16 300 x [1 -2 3 ... -8]", FLOAT16, 1e-6, scaled(300)),
          new Case(RMS_NORM, "8 zeros", FLOAT32, 1e-6, new double[8]),
          new Case(RMS_NORM, "8 zeros, epsilon 0: 0 / 0", FLOAT32, 0, new double[8]),
          new Case(LAYER_NORM, "1e20 x [1 -2 3 ... -8]", FLOAT32, 1e-5, scaled(1e20)),
          new Case(LAYER_NORM, "1e-30 x [1 -2 3 ... -8], epsilon 0", FLOAT32, 0, scaled(1e-30)),
          new Case(LAYER_NORM, "float16 300 x [1 -2 3 ... -8]", FLOAT16, 1e-5, scaled(300)),
          new Case(
              LAYER_NORM,
              "[40000 40001 40002 40003]",
              FLOAT32,
              1e-5,
              new double[] {40000, 40001, 40002, 40003}),
          new Case(LAYER_NORM, "256 times 1234", FLOAT32, 1e-5, filled(256, 1234)),
          new Case(LAYER_NORM, "8 zeros", FLOAT32, 1e-5, new double[8]),
          new Case(LAYER_NORM, "8 zeros, epsilon 0: 0 / 0", FLOAT32, 0, new double[8]));

  private Traps() {}

  /** All of them, through every system that takes the type. */
  static List<Trap> run() {
    List<Trap> traps = new ArrayList<>();
    for (Case one : CASES) {
      Contest contest = new Contest(one.kernel, false, one.type, 1, one.elements.length);
      for (Entrant entrant : Entrant.in(contest)) {
        if (entrant.kernel() == one.kernel && !entrant.name().equals(Systems.IN_PLACE)) {
          traps.add(forward(one, contest, entrant));
        }
      }
    }
    for (Kernel kernel : Kernel.values()) {
      Contest gradient = Contest.backward(kernel, 1, 64);
      for (Entrant entrant : Entrant.in(gradient)) {
        if (entrant.kernel() != null) {
          traps.addAll(gradients(gradient, entrant));
        }
      }
    }
    return traps;
  }

  private static Trap forward(Case one, Contest contest, Entrant entrant) {
    try (Arena arena = Arena.ofShared()) {
      Place place = Place.of(contest, one.epsilon, one.elements, arena);
      double[] exact = entrant.definition().output().row(place, 0);
      return trap(one.input(), place, entrant, exact, Answer.allowed(entrant, contest));
    }
  }

  /** dx, compared with the formula in float64 and with differences of the system's own output. */
  private static List<Trap> gradients(Contest contest, Entrant entrant) {
    try (Arena arena = Arena.ofShared()) {
      Place place = Place.random(contest, arena);
      double[] sums = new double[contest.width()];
      double[] exact =
          Answer.gradient(place, place.row(place.x, 0), place.row(place.dy, 0), sums, sums);
      String input = contest.kernel() + " backward of 64 random numbers, dx";
      return List.of(
          trap(input, place, entrant, exact, Answer.allowed(entrant, contest)),
          trap(
              input + " compared with differences of its own output",
              place,
              entrant,
              Differences.of(place, forward(contest, entrant), arena),
              Differences.ALLOWED));
    }
  }

  private static Entrant forward(Contest backward, Entrant entrant) {
    Contest contest = Contest.forward(backward.kernel(), 1, backward.width());
    return Entrant.in(contest).stream()
        .filter(one -> one.name().equals(entrant.name()))
        .findFirst()
        .orElseThrow();
  }

  private static Trap trap(
      String input, Place place, Entrant entrant, double[] exact, double allowed) {
    Contest contest = place.contest;
    try {
      entrant.answer(place, 1);
    } catch (RuntimeException | LinkageError e) {
      String refused = String.valueOf(e.getMessage());
      return new Trap(input, contest, entrant.name(), 0, 0, 0, allowed, refused);
    }
    double[] got = place.row(contest.backward() ? place.dx : place.y, 0);
    int worst = worst(got, exact);
    double error = Answer.distance(got, exact);
    return new Trap(input, contest, entrant.name(), exact[worst], got[worst], error, allowed, null);
  }

  /** The element that is farthest off, of those that are no number the first. */
  private static int worst(double[] got, double[] exact) {
    int worst = 0;
    for (int i = 0; i < exact.length; i++) {
      double apart = Answer.apart(got[i], exact[i]);
      if (Double.isNaN(apart)) {
        return i;
      }
      worst = apart > Answer.apart(got[worst], exact[worst]) ? i : worst;
    }
    return worst;
  }

  private static double[] scaled(double factor) {
    return Arrays.stream(SMALL_ROW).map(v -> v * factor).toArray();
  }

  private static double[] filled(int width, double value) {
    double[] row = new double[width];
    Arrays.fill(row, value);
    return row;
  }

  private record Case(
      Kernel kernel, String row, ElementType type, double epsilon, double[] elements) {
    String input() {
      return kernel + " of " + row;
    }
  }
}
