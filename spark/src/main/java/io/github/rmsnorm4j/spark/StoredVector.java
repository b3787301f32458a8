package io.github.rmsnorm4j.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.util.ArrayData;

/**
 * A vector of Spark ML as it is stored: kind, width, indices, values, of which a dense one has the
 * first and the last.
 */
final class StoredVector {
  private static final byte DENSE = 1;
  private static final int KIND = 0;
  private static final int WIDTH = 1;
  private static final int INDICES = 2;
  private static final int VALUES = 3;

  private StoredVector() {}

  static int width(InternalRow vector) {
    return isDense(vector) ? vector.getArray(VALUES).numElements() : vector.getInt(WIDTH);
  }

  /** All elements, in an array that is the caller's. */
  static double[] elements(InternalRow vector) {
    double[] values = vector.getArray(VALUES).toDoubleArray();
    if (isDense(vector)) {
      return values;
    }
    double[] elements = new double[vector.getInt(WIDTH)];
    ArrayData indices = vector.getArray(INDICES);
    for (int i = 0; i < values.length; i++) {
      elements[indices.getInt(i)] = values[i];
    }
    return elements;
  }

  static InternalRow dense(double[] elements) {
    UnsafeArrayData values = UnsafeArrayData.fromPrimitiveArray(elements);
    return new GenericInternalRow(new Object[] {DENSE, null, null, values});
  }

  private static boolean isDense(InternalRow vector) {
    return vector.getByte(KIND) == DENSE;
  }
}
