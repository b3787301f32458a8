package io.github.rmsnorm4j.spark.measure;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.udf;

import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.ForeachPartitionFunction;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.LongAccumulator;

/**
 * Rows that follow from their ids, so that what became of them can be checked without the input.
 *
 * @param vectors of spark.ml in place of array&lt;float&gt;
 * @param width elements of a row
 */
record GeneratedRows(boolean vectors, int width) implements Serializable {
  /** The column of the elements; the other one is the id. */
  static final String COLUMN = "embedding";

  /** Writes some of them to Parquet. */
  void write(SparkSession session, long rows, int files, Path folder) {
    UDF1<Long, Object> make = vectors ? id -> Vectors.dense(doubles(id)) : this::floats;
    Column elements =
        udf(
                make,
                vectors
                    ? SQLDataTypes.VectorType()
                    : DataTypes.createArrayType(DataTypes.FloatType, false))
            .apply(col("id"));
    session
        .range(0, rows, 1, files)
        .select(col("id"), elements.as(COLUMN))
        .write()
        .parquet(folder.toString());
  }

  /** Of all 24 bits, so that nothing compresses them. */
  private float[] floats(long id) {
    float[] row = new float[width];
    for (int i = 0; i < width; i++) {
      row[i] = (mixed(id * width + i) >> 40) * 0x1p-22f;
    }
    return row;
  }

  private double[] doubles(long id) {
    float[] floats = floats(id);
    double[] row = new double[width];
    Arrays.setAll(row, i -> floats[i]);
    return row;
  }

  /** SplitMix64's last steps. */
  private static long mixed(long number) {
    long z = (number + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /**
   * Checks every row: that each id is there once, and its elements are those that the library gives
   * for the row of that id, to the bit.
   *
   * @throws IllegalStateException if one is not
   */
  void requireNormalised(SparkSession session, long rows, Path folder) {
    LongAccumulator count = session.sparkContext().longAccumulator();
    LongAccumulator ids = session.sparkContext().longAccumulator();
    LongAccumulator wrong = session.sparkContext().longAccumulator();
    ForeachPartitionFunction<Row> check =
        part -> {
          Norm norm = RmsNorm.builder(width).threads(1).build();
          for (Iterator<Row> left = part; left.hasNext(); ) {
            Row row = left.next();
            count.add(1);
            ids.add(mixed(row.getLong(0)));
            wrong.add(isRight(row, norm) ? 0 : 1);
          }
        };
    session.read().parquet(folder.toString()).select("id", COLUMN).foreachPartition(check);
    long wantedIds = 0;
    for (long id = 0; id < rows; id++) {
      wantedIds += mixed(id);
    }
    if (wrong.value() != 0 || count.value() != rows || ids.value() != wantedIds) {
      throw new IllegalStateException(
          "%d rows of %d are wrong, %d were expected"
              .formatted(wrong.value(), count.value(), rows));
    }
  }

  private boolean isRight(Row row, Norm norm) {
    if (vectors) {
      double[] wanted = doubles(row.getLong(0));
      Rows inPlace = Rows.of(wanted, norm.width());
      norm.apply(inPlace, inPlace);
      return Arrays.equals(wanted, row.<Vector>getAs(1).toArray());
    }
    float[] wanted = floats(row.getLong(0));
    norm.apply(wanted, wanted);
    List<Float> found = row.getList(1);
    float[] elements = new float[found.size()];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = found.get(i);
    }
    return Arrays.equals(wanted, elements);
  }
}
