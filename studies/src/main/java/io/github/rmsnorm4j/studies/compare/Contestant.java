package io.github.rmsnorm4j.studies.compare;

import java.util.Optional;

/**
 * A variant made ready to run on given tensors.
 *
 * @param <T> a tensor
 */
interface Contestant<T> {
  /** Does what comes before the pass and is not part of it: a forward pass, for a backward one. */
  void prepare();

  /** One pass; the caller gives its result back. */
  T pass();

  /** The gain's gradient of the last backward pass. */
  float[] gainGradient();

  /** What has been done since this was asked before; empty where it is not counted. */
  default Optional<Work> work() {
    return Optional.empty();
  }
}
