package io.github.rmsnorm4j;

/**
 * What decides which way the rows of a call take.
 *
 * @param type of the rows that are normalised; backward, of those that were kept
 * @param heap whether these lie on the Java heap
 * @param plain whether all rows have one type and lie where kernels can address them, in arrays of
 *     that type or in native memory, and are measured whole: there are kernels for these alone
 */
record Shape(
    Direction direction,
    ElementType type,
    boolean heap,
    boolean centred,
    boolean plain,
    int rows,
    int width) {
  /** Any of so many rows of a type and width. */
  static Shape of(Direction direction, Draw draw, ElementType type, int rows, int width) {
    return new Shape(direction, type, draw.evenly(), draw.evenly(), draw.evenly(), rows, width);
  }

  int chunk() {
    return direction.chunk(width);
  }

  long elements() {
    return (long) rows * width;
  }
}
