package io.github.rmsnorm4j.benchmarks;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Adds float32 rows to others with vectors. A JVM without the Vector API has no use for this class,
 * and could not load it.
 */
public final class VectorSum {
  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;

  private VectorSum() {}

  /**
   * Adds elements to elements.
   *
   * @param from float32 elements, whole vectors
   * @param into as many float32 elements, which take the sums
   */
  public static void add(MemorySegment from, MemorySegment into) {
    ByteOrder order = ByteOrder.nativeOrder();
    long bytes = from.byteSize();
    for (long at = 0; at < bytes; at += F.vectorByteSize()) {
      FloatVector.fromMemorySegment(F, into, at, order)
          .add(FloatVector.fromMemorySegment(F, from, at, order))
          .intoMemorySegment(into, at, order);
    }
  }
}
