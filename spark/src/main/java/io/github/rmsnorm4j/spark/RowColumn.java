package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.ElementType;
import java.io.Serializable;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * How a column holds rows.
 *
 * @param container what holds a row
 * @param element how its elements are stored
 */
record RowColumn(Container container, ElementType element) implements Serializable {
  static final String ALLOWED = "array<float>, array<double>, vector (of spark.ml) or binary";

  /** What holds a row. */
  enum Container {
    ARRAY,
    VECTOR,
    BINARY
  }

  /**
   * Reads a column's type.
   *
   * @param name the column's, for messages
   * @param packed what a binary column holds, or null
   * @throws IllegalArgumentException if no rows can be in it
   */
  static RowColumn of(String name, DataType type, ElementType packed) {
    if (type.equals(DataTypes.BinaryType)) {
      if (packed == null) {
        throw new IllegalArgumentException(
            "inputType is not set, column '%s' is binary: say whether it holds float16, bfloat16,"
                    .formatted(name)
                + " float32 or float64");
      }
      return new RowColumn(Container.BINARY, packed);
    }
    RowColumn column = unpacked(name, type);
    if (packed != null && packed != column.element) {
      throw new IllegalArgumentException(
          "inputType is %s, column '%s' is %s, of %s"
              .formatted(packed, name, type.simpleString(), column.element));
    }
    return column;
  }

  private static RowColumn unpacked(String name, DataType type) {
    if (type.equals(SQLDataTypes.VectorType())) {
      return new RowColumn(Container.VECTOR, ElementType.FLOAT64);
    }
    if (type instanceof ArrayType array) {
      if (array.elementType().equals(DataTypes.FloatType)) {
        return new RowColumn(Container.ARRAY, ElementType.FLOAT32);
      }
      if (array.elementType().equals(DataTypes.DoubleType)) {
        return new RowColumn(Container.ARRAY, ElementType.FLOAT64);
      }
    }
    boolean old = type.getClass().getName().equals("org.apache.spark.mllib.linalg.VectorUDT");
    throw new IllegalArgumentException(
        "inputCol is '%s', a column of %s, it may be of %s"
            .formatted(name, old ? "spark.mllib's vector" : type.simpleString(), ALLOWED));
  }

  /**
   * A column for results of a type: as this one where that can hold them, otherwise an array, or
   * binary for types of 16 bits.
   */
  RowColumn of(ElementType type) {
    boolean fits = container == Container.BINARY || type == element;
    Container other = type.bytes() == Short.BYTES ? Container.BINARY : Container.ARRAY;
    return new RowColumn(fits ? container : other, type);
  }

  /** For one row of results, unless that can go where the row was. */
  Object newArray(int width) {
    if (container == Container.BINARY) {
      return new byte[Math.multiplyExact(width, element.bytes())];
    }
    return element == ElementType.FLOAT64 ? new double[width] : new float[width];
  }

  DataType dataType() {
    return switch (container) {
      case VECTOR -> SQLDataTypes.VectorType();
      case BINARY -> DataTypes.BinaryType;
      case ARRAY ->
          DataTypes.createArrayType(
              element == ElementType.FLOAT64 ? DataTypes.DoubleType : DataTypes.FloatType, false);
    };
  }
}
