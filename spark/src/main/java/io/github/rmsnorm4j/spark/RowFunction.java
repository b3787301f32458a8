package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.apache.spark.ml.linalg.DenseVector;
import org.apache.spark.ml.linalg.VectorUDT;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Normalises the rows of a column, one a call, in the form that they have between Spark's
 * operations, so that no element becomes an object. Public because the code that Spark generates
 * calls it; it is not for anybody else. Every task has one of its own.
 *
 * @param column its name, for messages
 * @param in how it holds rows
 * @param out how the result's column does
 * @param rules for its rows
 * @param makesNull whether a row that breaks the rules becomes null
 */
public record RowFunction(
    String column, RowColumn in, RowColumn out, RowRules rules, boolean makesNull)
    implements Serializable {
  /** How rows that cannot be normalised are let through. */
  static final String ADVICE = "handleInvalid 'keep' makes such rows null, 'skip' leaves them out";

  private static final VectorUDT VECTORS = new VectorUDT();

  /** The normalised column; null where the other is. */
  Column normalised(Column rows) {
    return call("apply", rows, out.dataType());
  }

  /** Whether a row can be normalised; null where there is none. */
  Column isValid(Column rows) {
    return call("isValid", rows, DataTypes.BooleanType);
  }

  /** A plan that is not run yet, with everything of Spark's that it needs to be run fast. */
  private Column call(String method, Column rows, DataType result) {
    Seq<Expression> arguments = seq(List.of(ExpressionUtils.expression(rows)));
    Seq<AbstractDataType> asTheyAre = seq(List.of());
    Expression self = new Literal(this, new ObjectType(RowFunction.class));
    return ExpressionUtils.column(
        new Invoke(self, method, result, arguments, asTheyAre, true, true, true));
  }

  private static <T> Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }

  /**
   * Normalises a row. A sparse vector becomes the dense one that it stands for.
   *
   * @param row an {@link ArrayData} of float or double, an {@link InternalRow} as Spark ML's
   *     vectors are stored, or a {@code byte[]} of elements in the machine's byte order; left as it
   *     is
   * @return the result as the output's column holds it, or null for a row that cannot be
   * @throws IllegalArgumentException if it cannot be and is not to become null
   */
  public Object apply(Object row) {
    if (isRefused(rules.problem(row))) {
      return null;
    }
    return switch (row) {
      case ArrayData array when in.element() == ElementType.FLOAT64 ->
          result(array.toDoubleArray(), true);
      case ArrayData array -> result(array.toFloatArray(), true);
      case InternalRow vector -> result(VECTORS.deserialize(vector).toArray(), true);
      default -> result(row, false);
    };
  }

  /**
   * {@return whether a row can be normalised: whether it has the right width and all its elements}
   *
   * @param row as for {@link #apply}
   */
  public boolean isValid(Object row) {
    return rules.problem(row) == null;
  }

  private boolean isRefused(String problem) {
    if (problem != null && !makesNull) {
      throw new IllegalArgumentException("column '%s': %s; %s".formatted(column, problem, ADVICE));
    }
    return problem != null;
  }

  /**
   * Normalises.
   *
   * @param own whether the array is this call's alone, so that the result may go where the row was
   */
  private Object result(Object array, boolean own) {
    Rows x = rows(array, in.element());
    Object y = own && in.element() == out.element() ? array : out.newArray(x.width());
    rules.norm(x.width()).apply(x, rows(y, out.element()));
    return switch (y) {
      case float[] floats -> UnsafeArrayData.fromPrimitiveArray(floats);
      case double[] doubles when out.container() == RowColumn.Container.VECTOR ->
          VECTORS.serialize(new DenseVector(doubles));
      case double[] doubles -> UnsafeArrayData.fromPrimitiveArray(doubles);
      default -> y;
    };
  }

  private static Rows rows(Object array, ElementType type) {
    return switch (array) {
      case float[] floats -> Rows.of(floats, floats.length);
      case double[] doubles -> Rows.of(doubles, doubles.length);
      default -> {
        byte[] bytes = (byte[]) array;
        yield Rows.of(MemorySegment.ofArray(bytes), type, 1, bytes.length / type.bytes());
      }
    };
  }

  /** For a plan that somebody reads: the norm, for example {@code llama of 768, gain}. */
  @Override
  public String toString() {
    return rules.settings().toString();
  }
}
