package io.github.rmsnorm4j.internal.codec;

import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Looks for NaN with vectors: the JIT does not turn a loop that does into any. */
final class VectorNan {
  private static final VectorSpecies<Short> SPECIES = ShortVector.SPECIES_PREFERRED;

  private VectorNan() {}

  /** The largest of the first n patterns without their signs. */
  static int largest(short[] patterns, int n) {
    ShortVector largest = ShortVector.zero(SPECIES);
    int whole = SPECIES.loopBound(n);
    for (int i = 0; i < whole; i += SPECIES.length()) {
      largest = largest.max(ShortVector.fromArray(SPECIES, patterns, i).and((short) 0x7fff));
    }
    int max = largest.reduceLanes(VectorOperators.MAX);
    for (int i = whole; i < n; i++) {
      max = Math.max(max, patterns[i] & 0x7fff);
    }
    return max;
  }
}
