package io.github.rmsnorm4j;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Choices by chance, all from one seed. */
final class Draw {
  private static final ElementType[] TYPES = ElementType.values();
  private static final Place[] PLACES = Place.values();

  final SplittableRandom random;
  final RandomRows rows;

  /** A source of its own: other choices do not depend on it. */
  private final SplittableRandom ofGroups;

  Draw(long seed) {
    ofGroups = new SplittableRandom(~seed);
    random = new SplittableRandom(seed);
    rows = new RandomRows(random);
  }

  /**
   * The groups of a row: one in most calls, otherwise a number that leaves two elements to each.
   */
  int groups(int width) {
    int[] counts = IntStream.rangeClosed(2, width / 2).filter(g -> width % g == 0).toArray();
    return counts.length == 0 || ofGroups.nextInt(5) > 0
        ? 1
        : counts[ofGroups.nextInt(counts.length)];
  }

  /** The elements of a parameter: of the row, or of a group. */
  int parameterLength(Variant norm) {
    return ofGroups.nextBoolean() ? norm.width() : norm.width() / norm.groups();
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

  /** Values about a mean, as one row at a place of its own. */
  Operand parameter(int width, double size, double mean) {
    ElementType type = type();
    double[][] row = {rows.scaled(type, width, size, mean)};
    return new Operand(type, place(), 0, width, row);
  }
}
