package io.github.rmsnorm4j.models.rewrite;

import java.io.IOException;

/** The numbers of stored gains and biases. */
interface Vectors {
  /**
   * {@return the numbers of a tensor of one axis, not to be changed}
   *
   * @param tensor its name
   */
  double[] of(String tensor) throws IOException;
}
