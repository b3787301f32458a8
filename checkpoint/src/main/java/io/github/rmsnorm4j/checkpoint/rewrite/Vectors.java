package io.github.rmsnorm4j.checkpoint.rewrite;

import java.io.IOException;

/** The numbers of stored gains and biases. */
interface Vectors {
  /**
   * Reads a tensor of one axis.
   *
   * @param tensor its name
   * @return its numbers, not to be changed
   */
  double[] of(String tensor) throws IOException;
}
