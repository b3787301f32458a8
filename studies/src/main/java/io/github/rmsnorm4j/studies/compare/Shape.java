package io.github.rmsnorm4j.studies.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Of a tensor; its last dimension is the width of a row.
 *
 * @param dimensions two or more, each at least 1
 */
public record Shape(List<Integer> dimensions) {
  private static final String ALLOWED =
      "it must be two or more whole numbers from 1 on, as 128x1024x4096";

  /**
   * Checks that rows and elements can be counted.
   *
   * @throws IllegalArgumentException if a dimension is not positive, or there are too many elements
   */
  public Shape {
    dimensions = List.copyOf(dimensions);
    if (dimensions.size() < 2 || dimensions.stream().anyMatch(d -> d < 1)) {
      throw new IllegalArgumentException(ALLOWED);
    }
    long rows = 1;
    for (int d : dimensions.subList(0, dimensions.size() - 1)) {
      rows *= d;
      if (rows > Integer.MAX_VALUE) {
        throw new IllegalArgumentException("it has over 2^31 - 1 rows, that many are allowed");
      }
    }
  }

  /** A shape of these dimensions. */
  public static Shape of(Integer... dimensions) {
    return new Shape(List.of(dimensions));
  }

  /**
   * Reads {@code 128x1024x4096}.
   *
   * @throws IllegalArgumentException if it is anything else; the message says what is allowed
   */
  public static Shape parse(String text) {
    List<Integer> dimensions = new ArrayList<>();
    for (String part : text.split("x", -1)) {
      try {
        dimensions.add(Integer.parseInt(part.strip()));
      } catch (NumberFormatException e) {
        boolean large = part.strip().matches("[0-9]{10,}");
        throw new IllegalArgumentException(
            large ? "a dimension is at most " + Integer.MAX_VALUE : ALLOWED, e);
      }
    }
    return new Shape(dimensions);
  }

  /** The product of all dimensions but the last. */
  public int rows() {
    return dimensions.subList(0, dimensions.size() - 1).stream().reduce(1, (a, b) -> a * b);
  }

  /** The last dimension, the length of a row. */
  public int width() {
    return dimensions.getLast();
  }

  /** How many elements. */
  public long elements() {
    return (long) rows() * width();
  }

  /** The first dimension. */
  int batch() {
    return dimensions.getFirst();
  }

  /** This shape with another first dimension. */
  Shape withBatch(int batch) {
    List<Integer> changed = new ArrayList<>(dimensions);
    changed.set(0, batch);
    return new Shape(changed);
  }

  /** For example {@code 128 x 1024 x 4096}. */
  @Override
  public String toString() {
    return dimensions.stream().map(String::valueOf).collect(Collectors.joining(" x "));
  }
}
