package io.github.rmsnorm4j.internal.lowering;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;

/** The classes of vectors, which have no names outside their package. */
final class VectorClasses {
  static final Class<?> DOUBLES_128 = DoubleVector.SPECIES_128.vectorType();
  static final Class<?> DOUBLES_256 = DoubleVector.SPECIES_256.vectorType();
  static final Class<?> DOUBLES_512 = DoubleVector.SPECIES_512.vectorType();
  static final Class<?> FLOATS_64 = FloatVector.SPECIES_64.vectorType();
  static final Class<?> FLOATS_128 = FloatVector.SPECIES_128.vectorType();
  static final Class<?> FLOATS_256 = FloatVector.SPECIES_256.vectorType();
  static final Class<?> FLOATS_512 = FloatVector.SPECIES_512.vectorType();
  static final Class<?> INTS_64 = IntVector.SPECIES_64.vectorType();
  static final Class<?> INTS_128 = IntVector.SPECIES_128.vectorType();
  static final Class<?> INTS_256 = IntVector.SPECIES_256.vectorType();
  static final Class<?> INTS_512 = IntVector.SPECIES_512.vectorType();

  private VectorClasses() {}
}
