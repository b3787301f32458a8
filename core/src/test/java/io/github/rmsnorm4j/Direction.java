package io.github.rmsnorm4j;

/** Forward or backward: how many rows a pass takes together. */
enum Direction {
  FORWARD(4096, 64),
  BACKWARD(8192, 32);

  private final int elements;
  private final int most;

  Direction(int elements, int most) {
    this.elements = elements;
    this.most = most;
  }

  /** Rows of a width that go through the kernels together. Results must not depend on it. */
  int chunk(int width) {
    return Math.clamp(elements / width, 1, most);
  }
}
