package io.github.rmsnorm4j.cli.compare;

import java.lang.foreign.MemorySegment;

/** A variant made ready to run on given tensors. */
interface Contestant {
  /** Does what comes before the pass and is not part of it: a forward pass, for a backward one. */
  void prepare();

  /** One pass; the caller gives its result back. */
  MemorySegment pass();

  /** The gain's gradient of the last backward pass. */
  float[] gainGradient();
}
