package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkException;
import org.apache.spark.ml.attribute.AttributeGroup;
import org.apache.spark.ml.feature.Normalizer;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.ml.functions;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nulls, rows that cannot be normalised, sparse vectors, and what becomes of the columns. */
class ColumnsTest {
  private static final DataType FLOATS = DataTypes.createArrayType(DataTypes.FloatType);
  private static final Float[] ROW = {1f, 2f, 3f};

  private SparkSession spark;

  @BeforeEach
  void start() {
    spark = LocalSpark.of(2);
  }

  private Dataset<Row> column(String name, DataType type, Object... values) {
    List<Row> rows = Arrays.stream(values).map(RowFactory::create).toList();
    return spark.createDataFrame(rows, new StructType().add(name, type));
  }

  private static RowNormalizer stage() {
    return new RowNormalizer().setInputCol("x").setOutputCol("y");
  }

  @ParameterizedTest
  @ValueSource(strings = {"error", "keep", "skip"})
  void nullStaysNull(String handling) {
    List<Row> rows =
        stage()
            .setHandleInvalid(handling)
            .transform(column("x", FLOATS, ROW, null))
            .collectAsList();
    assertThat(rows).hasSize(2);
    assertThat(rows.get(0).isNullAt(1)).isFalse();
    assertThat(rows.get(1).isNullAt(1)).isTrue();
  }

  @Test
  void invalidRowsAreErrorsAndSayWhy() {
    assertFails(stage().setWidth(4), ROW, "column 'x': a row is 3 wide, it must be 4; ");
    assertFails(stage(), new Float[] {1f, null, 3f}, "column 'x': element 1 of a row is null; ");
    assertFails(stage(), new Float[0], "column 'x': a row is empty; ");
    assertFails(
        stage().setNorm("rmsnorm(part=0.25 down)"),
        ROW,
        "column 'x': a row is 3 wide: part is 1/4 down, it must leave at least one of the 3 elements"
            + " of a row; ");
    assertFails(
        stage().setNorm("llama(groupcount=2)"),
        ROW,
        "column 'x': a row is 3 wide: groupCount is 2, it must divide the width, 3; ");
  }

  private void assertFails(RowNormalizer stage, Float[] row, String message) {
    // From a file or a shuffle, that Spark does not evaluate while it plans.
    Dataset<Row> rows = column("x", FLOATS, ROW, row).repartition(2);
    assertThatThrownBy(() -> stage.transform(rows).collectAsList())
        .isInstanceOf(SparkException.class)
        .hasStackTraceContaining(
            message + "handleInvalid 'keep' makes such rows null, 'skip' leaves them out");
  }

  @Test
  void arraysThatAreInvalid() {
    Float[] hole = {1f, null, 3f};
    assertHandled(
        stage().setWidth(3), FLOATS, new Object[] {ROW, hole, new Float[] {1f}, new Float[0]}, 1);
  }

  /** Read in batches there are no rows that hold their own marks of what is null. */
  @Test
  void arraysFromParquetThatAreInvalid(@TempDir Path directory) {
    String path = directory.resolve("rows.parquet").toUri().toString();
    Float[] hole = {1f, 2f, null};
    column("x", FLOATS, ROW, hole, null, new Float[0], ROW).coalesce(1).write().parquet(path);
    Dataset<Row> rows = spark.read().parquet(path);
    assertThat(stage().setHandleInvalid("keep").transform(rows).collectAsList())
        .extracting(row -> row.isNullAt(1))
        .containsExactly(false, true, true, true, false);
    assertThat(stage().setHandleInvalid("skip").transform(rows).collectAsList())
        .extracting(row -> row.isNullAt(1))
        .containsExactly(false, true, false);
    assertThatThrownBy(() -> stage().transform(rows).collectAsList())
        .hasStackTraceContaining("column 'x': element 2 of a row is null; ");
  }

  /** Rows of four elements are valid, those of three are not. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "llama(groupcount=2)",
        "layernorm(groupsize=4)",
        "l2(groupsize=2)",
        "rmsnorm(part=0.25 down)"
      })
  void rowsThatTheNormDoesNotFit(String norm) {
    Float[] four = {1f, 2f, 3f, 4f};
    assertHandled(stage().setNorm(norm), FLOATS, new Object[] {four, four, ROW, four, ROW}, 3);
    Vector three = Vectors.sparse(3, new int[] {0}, new double[] {1});
    Object[] vectors = {Vectors.dense(1, 2, 3, 4), three, Vectors.dense(1, 2, 3)};
    assertHandled(stage().setNorm(norm), SQLDataTypes.VectorType(), vectors, 1);
    Object[] packed = {new byte[8], new byte[6], new byte[7]};
    RowNormalizer halves = stage().setNorm(norm).setInputType("f16");
    assertHandled(halves, DataTypes.BinaryType, packed, 1);
  }

  @Test
  void vectorsThatAreInvalid() {
    Vector dense = Vectors.dense(1, 2);
    Vector sparse = Vectors.sparse(Integer.MAX_VALUE, new int[] {0}, new double[] {1});
    Vector none = Vectors.dense(new double[0]);
    assertHandled(
        stage().setWidth(2),
        SQLDataTypes.VectorType(),
        new Object[] {dense, sparse, none, Vectors.dense(1, 2, 3)},
        1);
  }

  @Test
  void packedRowsThatAreInvalid() {
    assertHandled(
        stage().setWidth(2).setInputType("f16"),
        DataTypes.BinaryType,
        new Object[] {new byte[4], new byte[3], new byte[0], new byte[6]},
        1);
  }

  /** Spark normalizes literals while it plans, before it leaves rows out. */
  @Test
  void literalsThatAreInvalid() {
    Dataset<Row> rows =
        spark.sql(
            "select array(1f, 2f) as x union all select array(1f)"
                + " union all select array(1f, null) union all select null");
    RowNormalizer stage = stage().setWidth(2);
    assertThat(stage.setHandleInvalid("keep").transform(rows).collectAsList())
        .extracting(row -> row.isNullAt(1))
        .containsExactly(false, true, true, true);
    assertThat(stage.setHandleInvalid("skip").transform(rows).collectAsList())
        .extracting(row -> row.isNullAt(1))
        .containsExactly(false, true);
    assertThatThrownBy(() -> stage.setHandleInvalid("error").transform(rows).collectAsList())
        .hasStackTraceContaining("column 'x': a row is 1 wide, it must be 2; ");
  }

  /** The first rows are valid, the others not. */
  private void assertHandled(RowNormalizer stage, DataType type, Object[] rows, int valid) {
    Dataset<Row> dataset = column("x", type, rows).repartition(1);
    List<Row> kept = stage.setHandleInvalid("keep").transform(dataset).collectAsList();
    assertThat(kept).hasSize(rows.length);
    assertThat(kept.stream().filter(row -> !row.isNullAt(1))).hasSize(valid);
    List<Row> skipped = stage.setHandleInvalid("skip").transform(dataset).collectAsList();
    assertThat(skipped).hasSize(valid);
    assertThat(skipped).isEqualTo(kept.stream().filter(row -> !row.isNullAt(1)).toList());
  }

  /** As when it comes out of VectorAssembler, which chooses the smaller for each row. */
  @Test
  void sparseVectorsAsTheDenseOnesThatTheyStandFor() {
    Vector sparse = Vectors.sparse(5, new int[] {1, 4}, new double[] {3, -4});
    double[] wanted = sparse.toArray();
    Rows inPlace = Rows.of(wanted, 5);
    RmsNorm.builder(5).bias(new double[] {1, 1, 1, 1, 1}).build().apply(inPlace, inPlace);
    List<Row> rows =
        stage()
            .setBias(new double[] {1, 1, 1, 1, 1})
            .transform(
                column("x", SQLDataTypes.VectorType(), sparse, sparse.toDense()).repartition(1))
            .collectAsList();
    assertThat(rows)
        .extracting(row -> row.get(1))
        .containsExactly(Vectors.dense(wanted), Vectors.dense(wanted));
    assertThat(rows.getFirst().get(0)).isEqualTo(sparse);
  }

  /** The lines of docs/spark.md about unit length, and what becomes of zeros. */
  @Test
  void unitLengthAndRowsOfZeros() {
    Vector zeros = Vectors.dense(0, 0, 0, 0);
    RowNormalizer unit = stage().setNorm("l2");
    Normalizer own = new Normalizer().setInputCol("x").setOutputCol("z");
    List<Row> rows =
        own.transform(
                unit.transform(
                    column("x", SQLDataTypes.VectorType(), Vectors.dense(2, -4, 5, 6), zeros)
                        .repartition(1)))
            .collectAsList();
    assertThat(Vectors.norm(rows.get(0).getAs("y"), 2)).isCloseTo(1, within(1e-15));
    assertThat(rows.get(1).<Vector>getAs("y")).isEqualTo(zeros);
    assertThat(rows.get(1).<Vector>getAs("z")).isEqualTo(zeros);
    assertThat(
            unit.setNorm("unit")
                .transform(column("x", SQLDataTypes.VectorType(), zeros))
                .head()
                .<Vector>getAs("y"))
        .isEqualTo(zeros);
  }

  /** The other way to length 1 that docs/spark.md names. */
  @Test
  void sparksOwnNormalizerTakesArraysAsVectors() {
    Dataset<Row> rows = column("x", FLOATS, new Object[] {new Float[] {3f, 4f}});
    Row row =
        new Normalizer()
            .setInputCol("v")
            .setOutputCol("z")
            .transform(rows.withColumn("v", functions.array_to_vector(rows.col("x"))))
            .head();
    assertThat(row.<Vector>getAs("z").toArray())
        .containsExactly(new double[] {0.6, 0.8}, within(1e-15));
  }

  /** Spark's own function of arrays, and where docs/spark.md says that it is not enough. */
  @Test
  void sparksVectorNormalizeAddsInFloat32() {
    Object[] in = {
      new Float[] {3f, 4f},
      new Float[] {3e19f, 4e19f},
      new Float[] {0f, 0f},
      new Float[] {1e-25f, 1e-25f},
      new Float[] {1f, null}
    };
    List<Row> rows =
        stage()
            .setNorm("l2")
            .setHandleInvalid("keep")
            .transform(column("x", FLOATS, in))
            .selectExpr("vector_normalize(x, 2F)", "y")
            .collectAsList();
    assertThat(rows.get(0).getList(0)).isEqualTo(List.of(0.6f, 0.8f));
    assertThat(rows.get(1).getList(0)).isEqualTo(List.of(0f, 0f));
    assertThat(rows.get(1).getList(1)).isEqualTo(List.of(0.6f, 0.79999995f));
    assertThat(rows.get(2).isNullAt(0)).isTrue();
    assertThat(rows.get(2).getList(1)).isEqualTo(List.of(0f, 0f));
    assertThat(rows.get(3).isNullAt(0)).isTrue();
    assertThat(rows.get(3).getList(1)).isEqualTo(List.of(1e-13f, 1e-13f));
    assertThat(rows.get(4).isNullAt(0)).isTrue();
  }

  /** The rows that docs/spark.md names: no error, whatever becomes of invalid rows. */
  @ParameterizedTest
  @ValueSource(strings = {"error", "keep", "skip"})
  void nanAndInfinityAreValid(String handling) {
    Object[] in = {new Float[] {Float.NaN, 1f}, new Float[] {Float.POSITIVE_INFINITY, 1f}};
    List<Row> rows =
        stage().setHandleInvalid(handling).transform(column("x", FLOATS, in)).collectAsList();
    assertThat(rows)
        .extracting(row -> row.getList(1))
        .containsExactly(List.of(Float.NaN, Float.NaN), List.of(Float.NaN, 0f));
  }

  @Test
  void rowsOfManyWidthsEachByItsOwn() {
    List<Row> rows =
        stage()
            .transform(column("x", FLOATS, new Float[] {2f}, new Float[] {1f, 1f}, ROW))
            .collectAsList();
    assertThat(rows).extracting(row -> row.getList(1).size()).containsExactly(1, 2, 3);
  }

  @ParameterizedTest
  @CsvSource({
    "array<float>, , , array<float>",
    "array<float>, , f32, array<float>",
    "array<float>, , f64, array<double>",
    "array<float>, , bf16, binary",
    "array<double>, , , array<double>",
    "array<double>, , f32, array<float>",
    "vector, , , vector",
    "vector, , float64, vector",
    "vector, , float32, array<float>",
    "vector, , float16, binary",
    "binary, f16, , binary",
    "binary, f16, f32, binary",
    "binary, f64, , binary",
    "array<double>, f64, , array<double>"
  })
  void theColumnOfTheResult(String in, String inputType, String outputType, String out) {
    RowNormalizer stage = stage();
    if (inputType != null) {
      stage.setInputType(inputType);
    }
    if (outputType != null) {
      stage.setOutputType(outputType);
    }
    StructType schema = stage.transformSchema(new StructType().add("x", type(in)));
    assertThat(schema.apply("y").dataType().simpleString()).isEqualTo(out);
    Dataset<Row> result = stage.transform(column("x", type(in)));
    assertThat(result.schema().apply("y")).isEqualTo(schema.apply("y"));
    assertThat(result.schema()).isEqualTo(schema);
  }

  private static DataType type(String name) {
    return name.equals("vector") ? SQLDataTypes.VectorType() : DataType.fromDDL(name);
  }

  @Test
  void columnsThatCannotBe() {
    StructType schema = new StructType().add("x", DataTypes.StringType).add("y", FLOATS);
    assertRefused(
        new RowNormalizer("stage"),
        schema,
        "stage: inputCol is not set, it must name a column of array<float>, array<double>, vector"
            + " (of spark.ml) or binary");
    assertRefused(
        new RowNormalizer("stage").setInputCol("z"),
        schema,
        "stage: inputCol is 'z', the columns are x, y");
    assertRefused(
        new RowNormalizer("stage").setInputCol("x"),
        schema,
        "stage: inputCol is 'x', a column of string, it may be of array<float>, array<double>,"
            + " vector (of spark.ml) or binary");
    assertRefused(
        new RowNormalizer("stage").setInputCol("y").setOutputCol("X"),
        schema,
        "stage: outputCol is 'X', there is such a column already");
    assertRefused(
        new RowNormalizer("stage").setInputCol("y").setInputType("f16"),
        schema,
        "stage: inputType is float16, column 'y' is array<float>, of float32");
    assertRefused(
        new RowNormalizer("stage").setInputCol("x"),
        new StructType().add("x", DataTypes.BinaryType),
        "stage: inputType is not set, column 'x' is binary: say whether it holds float16, bfloat16,"
            + " float32 or float64");
    assertRefused(
        new RowNormalizer("stage").setInputCol("x"),
        new StructType().add("x", new org.apache.spark.mllib.linalg.VectorUDT()),
        "stage: inputCol is 'x', a column of spark.mllib's vector, it may be of array<float>,"
            + " array<double>, vector (of spark.ml) or binary");
    assertRefused(
        new RowNormalizer("stage").setInputCol("x"),
        new StructType().add("x", DataTypes.createArrayType(DataTypes.IntegerType)),
        "stage: inputCol is 'x', a column of array<int>, it may be of array<float>, array<double>,"
            + " vector (of spark.ml) or binary");
  }

  private void assertRefused(RowNormalizer stage, StructType schema, String message) {
    assertThatThrownBy(() -> stage.transformSchema(schema))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
    Dataset<Row> none = spark.createDataFrame(List.of(), schema);
    assertThatThrownBy(() -> stage.transform(none)).hasMessage(message);
  }

  @Test
  void manyColumnsAreNotAllListed() {
    StructType schema = new StructType();
    for (int i = 0; i < 20; i++) {
      schema = schema.add("c" + i, FLOATS);
    }
    StructType many = schema;
    assertThatThrownBy(() -> stage().transformSchema(many))
        .hasMessageEndingWith(
            "the columns are c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11" + " and 8 more");
  }

  @Test
  void namesWithDotsAndTicksAreNames() {
    List<Row> rows =
        stage()
            .setInputCol("a.b`c")
            .transform(column("a.b`c", FLOATS, (Object) ROW))
            .collectAsList();
    assertThat(rows.getFirst().getList(1)).hasSize(3);
  }

  @Test
  void theOutputIsNamedAfterTheStageByDefault() {
    RowNormalizer stage = new RowNormalizer("stage").setInputCol("x");
    assertThat(stage.transform(column("x", FLOATS)).columns())
        .containsExactly("x", "stage__output");
  }

  /** A stage that follows asks for it, and would otherwise have to look at the rows. */
  @Test
  void theWidthOfVectorsIsKnown() {
    Dataset<Row> numbers = spark.range(3).selectExpr("double(id) as a", "double(id + 1) as b");
    Dataset<Row> vectors =
        new VectorAssembler()
            .setInputCols(new String[] {"a", "b"})
            .setOutputCol("x")
            .transform(numbers);
    StructType schema = stage().transform(vectors).schema();
    assertThat(AttributeGroup.fromStructField(schema.apply("y")).size()).isEqualTo(2);
    StructType plain = new StructType().add("x", SQLDataTypes.VectorType());
    assertThat(size(stage().setWidth(5).transformSchema(plain))).isEqualTo(5);
    assertThat(size(stage().transformSchema(plain))).isEqualTo(-1);
  }

  private static int size(StructType schema) {
    return AttributeGroup.fromStructField(schema.apply("y")).size();
  }
}
