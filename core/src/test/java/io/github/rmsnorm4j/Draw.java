package io.github.rmsnorm4j;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Choices by chance, all from one seed. */
final class Draw {
  private static final ElementType[] TYPES = ElementType.values();
  private static final Place[] PLACES = Place.values();

  final SplittableRandom random;
  final RandomRows rows;

  Draw(long seed) {
    random = new SplittableRandom(seed);
    rows = new RandomRows(random);
  }

  /** Two or more parts of all, each with some at least; 1 if there is no such number. */
  int divisor(int all, int least) {
    int[] some = IntStream.rangeClosed(2, all / least).filter(n -> all % n == 0).toArray();
    return some.length == 0 ? 1 : of(some);
  }

  @SafeVarargs
  final <T> T of(T... values) {
    return values[random.nextInt(values.length)];
  }

  int of(int[] values) {
    return values[random.nextInt(values.length)];
  }

  double of(double[] values) {
    return values[random.nextInt(values.length)];
  }

  boolean evenly() {
    return random.nextBoolean();
  }

  boolean onceIn(int times) {
    return random.nextInt(times) == 0;
  }

  /** One of some; a single element is in the range of LayerNorm by its epsilon alone. */
  double epsilon(double[] values, int width, Mix mix) {
    double epsilon = of(values);
    return width == 1 && mix != Mix.ANY ? Math.max(epsilon, 1e-12) : epsilon;
  }

  /** Rows of all characters more often than others. */
  Mix mix() {
    return evenly() ? Mix.ANY : of(Mix.values());
  }

  int choice() {
    return random.nextInt(Recipe.CHOICES);
  }

  ElementType type() {
    return of(TYPES);
  }

  /** A type whose rows are computed in float32. */
  ElementType narrowType() {
    return TYPES[random.nextInt(1, TYPES.length)];
  }

  Place place() {
    return of(PLACES);
  }

  Place place(boolean heap) {
    Place place = place();
    while (place.isHeap() != heap) {
      place = place();
    }
    return place;
  }

  /** A place that kernels can address. */
  Place plainPlace(boolean heap) {
    return heap ? Place.ARRAY : place(false);
  }

  /** Elements between rows: none, or fewer than so many. */
  int gap(int below) {
    return random.nextBoolean() ? 0 : random.nextInt(1, below);
  }

  /** Rows of values about a mean, at a place of their own. */
  Operand parameter(int count, int width, double size, double mean) {
    ElementType type = type();
    double[][] all = new double[count][];
    Arrays.setAll(all, r -> rows.scaled(type, width, size, mean));
    return new Operand(type, place(), count == 1 ? 0 : gap(9), width, all);
  }
}
