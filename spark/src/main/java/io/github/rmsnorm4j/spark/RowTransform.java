package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.ElementType;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.ml.attribute.AttributeGroup;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * From one column to another.
 *
 * @param inputType what a binary column holds, or null
 * @param outputType of the result's elements, or null for the input's
 * @param handleInvalid {@code error}, {@code keep} or {@code skip}
 */
record RowTransform(
    String inputCol,
    String outputCol,
    NormSettings settings,
    ElementType inputType,
    ElementType outputType,
    String handleInvalid) {
  private static final int COLUMNS_LISTED = 12;

  /**
   * The columns with that of the result.
   *
   * @throws IllegalArgumentException if the result cannot be made of them
   */
  StructType schema(StructType columns) {
    requireColumns(columns);
    StructField field = columns.apply(inputCol);
    DataType type = out(in(field)).dataType();
    return columns.add(new StructField(outputCol, type, true, metadata(field)));
  }

  /** The plan of it. */
  Dataset<Row> apply(Dataset<?> dataset) {
    Metadata metadata = schema(dataset.schema()).apply(outputCol).metadata();
    StructField field = dataset.schema().apply(inputCol);
    RowColumn in = in(field);
    boolean nullable = field.dataType() instanceof ArrayType array && array.containsNull();
    RowRules rules = new RowRules(settings, in.element().bytes(), nullable);
    // Spark computes a literal row before it drops rows, so an invalid one is no error with 'skip'.
    boolean makesNull = !handleInvalid.equals("error");
    RowFunction function = new RowFunction(inputCol, in, out(in), rules, makesNull);
    Column rows = dataset.col("`" + inputCol.replace("`", "``") + "`");
    // Asked of the rows, not of the results: Spark moves filters ahead and would make those twice.
    Dataset<?> wanted =
        handleInvalid.equals("skip")
            ? dataset.filter(rows.isNull().or(function.isValid(rows)))
            : dataset;
    return wanted.select(functions.col("*"), function.normalised(rows).as(outputCol, metadata));
  }

  private void requireColumns(StructType columns) {
    String[] names = columns.fieldNames();
    if (!Arrays.asList(names).contains(inputCol)) {
      throw new IllegalArgumentException(
          "inputCol is '%s', the columns are %s".formatted(inputCol, list(names)));
    }
    if (Stream.of(names).anyMatch(outputCol::equalsIgnoreCase)) {
      throw new IllegalArgumentException(
          "outputCol is '%s', there is such a column already".formatted(outputCol));
    }
  }

  private static String list(String[] names) {
    String listed = Stream.of(names).limit(COLUMNS_LISTED).collect(Collectors.joining(", "));
    int more = names.length - COLUMNS_LISTED;
    return more > 0 ? listed + " and " + more + " more" : listed;
  }

  private RowColumn in(StructField field) {
    return RowColumn.of(inputCol, field.dataType(), inputType);
  }

  private RowColumn out(RowColumn in) {
    return in.of(outputType == null ? in.element() : outputType);
  }

  /** The width of vectors, where it is known: stages that follow need not look for it. */
  private Metadata metadata(StructField field) {
    RowColumn in = in(field);
    if (out(in).container() != RowColumn.Container.VECTOR) {
      return Metadata.empty();
    }
    int known = AttributeGroup.fromStructField(field).size();
    int width = settings.width() == null ? known : settings.width();
    return width < 0 ? Metadata.empty() : new AttributeGroup(outputCol, width).toMetadata();
  }
}
