package io.github.rmsnorm4j.spark;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Rows as the library has them, all in one piece, and as a column of Spark has them. */
final class Sample {
  private final ElementType type;
  private final int width;
  private final int rows;
  private final MemorySegment memory;

  private Sample(ElementType type, int width, int rows) {
    this.type = type;
    this.width = width;
    this.rows = rows;
    memory = MemorySegment.ofArray(new byte[type.bytes() * width * rows]);
  }

  /** Rows of every scale, with NaN, infinity, zeros and subnormal numbers in some. */
  static Sample of(ElementType type, int width, int rows, Random random) {
    Sample sample = new Sample(type, width, rows);
    for (int row = 0; row < rows; row++) {
      double scale = Math.scalb(1, random.nextInt(type == ElementType.FLOAT64 ? 1800 : 240) - 130);
      boolean special = row % 10 == 9;
      for (int i = 0; i < width; i++) {
        double value = special ? special(random) : random.nextGaussian() * scale;
        type.set(sample.memory, row * width + i, value);
      }
    }
    return sample;
  }

  private static double special(Random random) {
    double[] values = {0, -0.0, 1e-42, 3e38, -3e38, 1e-30};
    double[] rare = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY};
    return random.nextInt(200) == 0
        ? rare[random.nextInt(rare.length)]
        : values[random.nextInt(values.length)];
  }

  /** What the library makes of all rows in one call, as each row's bits. */
  List<String> normalised(Norm norm, ElementType result) {
    Sample y = new Sample(result, width, rows);
    norm.apply(Rows.of(memory, type, rows, width), Rows.of(y.memory, result, rows, width));
    List<String> bits = new ArrayList<>();
    for (int row = 0; row < rows; row++) {
      bits.add(bits(y.bytes(row), result));
    }
    return bits;
  }

  private byte[] bytes(int row) {
    long stride = (long) type.bytes() * width;
    return memory.asSlice(row * stride, stride).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
  }

  /** Columns {@code id} and {@code x}, in as many partitions. */
  Dataset<Row> dataset(SparkSession spark, RowColumn column, int partitions) {
    List<Row> list = new ArrayList<>();
    for (int row = 0; row < rows; row++) {
      list.add(RowFactory.create(row, value(row, column)));
    }
    StructType schema =
        new StructType().add("id", DataTypes.IntegerType).add("x", column.dataType());
    return spark.createDataFrame(list, schema).repartition(partitions);
  }

  private Object value(int row, RowColumn column) {
    byte[] bytes = bytes(row);
    if (column.container() == RowColumn.Container.BINARY) {
      return bytes;
    }
    MemorySegment memory = MemorySegment.ofArray(bytes);
    if (type == ElementType.FLOAT32) {
      Float[] floats = new Float[width];
      Arrays.setAll(floats, i -> memory.getAtIndex(JAVA_FLOAT_UNALIGNED, i));
      return floats;
    }
    double[] doubles = memory.toArray(JAVA_DOUBLE_UNALIGNED);
    return column.container() == RowColumn.Container.VECTOR
        ? Vectors.dense(doubles)
        : Arrays.stream(doubles).boxed().toArray(Double[]::new);
  }

  /** The bits of a row that Spark gives back, every NaN as the same. */
  static String bits(Object value, ElementType type) {
    return switch (value) {
      case byte[] bytes -> ofBytes(bytes, type);
      case Vector vector -> ofDoubles(vector.toArray());
      case scala.collection.Seq<?> elements -> ofElements(elements);
      default -> throw new AssertionError(value.getClass());
    };
  }

  private static String ofElements(scala.collection.Seq<?> elements) {
    StringBuilder bits = new StringBuilder();
    for (int i = 0; i < elements.size(); i++) {
      bits.append(
          switch (elements.apply(i)) {
            case Float f -> HexFormat.of().toHexDigits(Float.floatToIntBits(f));
            case Double d -> HexFormat.of().toHexDigits(Double.doubleToLongBits(d));
            case Object other -> throw new AssertionError(other.getClass());
          });
    }
    return bits.toString();
  }

  private static String ofDoubles(double[] doubles) {
    StringBuilder bits = new StringBuilder();
    for (double d : doubles) {
      bits.append(HexFormat.of().toHexDigits(Double.doubleToLongBits(d)));
    }
    return bits.toString();
  }

  private static String ofBytes(byte[] bytes, ElementType type) {
    MemorySegment memory = MemorySegment.ofArray(bytes);
    StringBuilder bits = new StringBuilder();
    for (int i = 0; i < bytes.length; i += type.bytes()) {
      bits.append(
          switch (type) {
            case FLOAT64 ->
                HexFormat.of()
                    .toHexDigits(Double.doubleToLongBits(memory.get(JAVA_DOUBLE_UNALIGNED, i)));
            case FLOAT32 ->
                HexFormat.of()
                    .toHexDigits(Float.floatToIntBits(memory.get(JAVA_FLOAT_UNALIGNED, i)));
            default -> HexFormat.of().toHexDigits(memory.get(JAVA_SHORT_UNALIGNED, i));
          });
    }
    return bits.toString();
  }
}
