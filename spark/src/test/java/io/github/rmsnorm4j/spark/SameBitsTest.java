package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.spark.RowColumn.Container;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Results are those of the library, which the command line's are as well, to the last bit. */
class SameBitsTest {
  private static final int ROWS = 200;
  private static final int WIDTH = 72;

  @TempDir private Path directory;
  private final Random random = new Random(7);

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 7", "1, 64", "2, 1", "2, 7", "2, 64"})
  void whateverThePartitionsAndThreads(int threads, int partitions) {
    SparkSession spark = LocalSpark.of(threads);
    double[] gain = parameter(WIDTH);
    RmsNorm norm = RmsNorm.builder(WIDTH).gain(gain).epsilon(1e-5).build();
    RowNormalizer stage = new RowNormalizer().setGain(gain).setNorm("rmsnorm(eps=1e-5)");
    RowColumn column = new RowColumn(Container.ARRAY, ElementType.FLOAT32);
    Sample sample = Sample.of(ElementType.FLOAT32, WIDTH, ROWS, random);

    Dataset<Row> rows = sample.dataset(spark, column, partitions);
    assertThat(rows.javaRDD().getNumPartitions()).isEqualTo(partitions);
    assertThat(bits(stage, rows, ElementType.FLOAT32))
        .isEqualTo(sample.normalised(norm, ElementType.FLOAT32));
  }

  static Stream<RowColumn> columns() {
    return Stream.concat(
        Stream.of(ElementType.values()).map(type -> new RowColumn(Container.BINARY, type)),
        Stream.of(
            new RowColumn(Container.ARRAY, ElementType.FLOAT32),
            new RowColumn(Container.ARRAY, ElementType.FLOAT64),
            new RowColumn(Container.VECTOR, ElementType.FLOAT64)));
  }

  @ParameterizedTest
  @MethodSource("columns")
  void fromEveryColumnToEveryType(RowColumn column) {
    fromColumn(column, List.of(ElementType.values()));
  }

  private void fromColumn(RowColumn column, List<ElementType> types) {
    SparkSession spark = LocalSpark.of(2);
    double[] gain = parameter(WIDTH);
    double[] bias = parameter(WIDTH);
    Norm norm = LayerNorm.builder(WIDTH).gain(gain).bias(bias).build();
    Sample sample = Sample.of(column.element(), WIDTH, ROWS, random);
    Dataset<Row> rows = sample.dataset(spark, column, 3);
    for (ElementType type : types) {
      RowNormalizer stage =
          new RowNormalizer()
              .setNorm("layernorm")
              .setGain(gain)
              .setBias(bias)
              .setOutputType(type.shortName());
      if (column.container() == Container.BINARY) {
        stage.setInputType(column.element().toString());
      }
      assertThat(bits(stage, rows, type))
          .as("%s to %s", column, type)
          .isEqualTo(sample.normalised(norm, type));
    }
  }

  @ParameterizedTest
  @CsvSource({"1", "2", "31", "64", "768", "1500", "70000"})
  void whateverTheWidth(int width) {
    SparkSession spark = LocalSpark.of(2);
    RowColumn column = new RowColumn(Container.ARRAY, ElementType.FLOAT32);
    Sample sample = Sample.of(ElementType.FLOAT32, width, 10, random);
    // Nobody says how wide the rows are.
    assertThat(bits(new RowNormalizer(), sample.dataset(spark, column, 2), ElementType.FLOAT32))
        .isEqualTo(sample.normalised(RmsNorm.builder(width).build(), ElementType.FLOAT32));
    assertThat(
            bits(
                new RowNormalizer().setNorm("layernorm"),
                sample.dataset(spark, column, 2),
                ElementType.FLOAT32))
        .isEqualTo(sample.normalised(LayerNorm.builder(width).build(), ElementType.FLOAT32));
  }

  static Stream<NormSpec> specs() {
    Stream<String> others =
        Stream.of(
            "rmsnorm(cast=t5)",
            "llama(cast=float32, offset=1)",
            "rmsnorm(eps=1e-3 floor, part=0.3)",
            "rmsnorm(eps=0, part=0.3 down)",
            "layernorm(eps=0.5 outside, offset=-2)");
    return Stream.concat(
        NormSpec.presets().stream().map(NormSpec.Preset::spec), others.map(NormSpec::parse));
  }

  @ParameterizedTest
  @MethodSource("specs")
  void everyNorm(NormSpec spec) {
    double[] gain = parameter(WIDTH);
    Rows stored = NormSettings.storedGain(gain, ElementType.BFLOAT16);
    for (ElementType type : types(spec)) {
      same(
          norm(spec, builder -> builder.gain(stored)),
          stage(spec).setGain(gain).setGainType("bf16").setWidth(WIDTH),
          type);
    }
    same(norm(spec, builder -> {}), stage(spec), ElementType.BFLOAT16);
  }

  /** All of them, or else one in turn; orders of rounding differ in types of 16 bits alone. */
  private static List<ElementType> types(NormSpec spec) {
    if (Boolean.getBoolean("tests.all")) {
      return List.of(ElementType.values());
    }
    int turn = specs().toList().indexOf(spec);
    List<ElementType> types =
        spec.castOrder() == CastOrder.FLOAT32
            ? List.of(ElementType.values())
            : List.of(ElementType.BFLOAT16, ElementType.FLOAT16);
    return List.of(types.get(turn % types.size()));
  }

  /** The type of the gain is that of its numbers as they came: float64. */
  @ParameterizedTest
  @CsvSource({"rmsnorm", "t5", "gemma", "layernorm"})
  void aGainOfFloat64(String text) {
    double[] gain = random.doubles(WIDTH).toArray();
    NormSpec spec = NormSpec.parse(text);
    same(
        norm(spec, builder -> builder.gain(gain)), stage(spec).setGain(gain), ElementType.BFLOAT16);
  }

  private static Norm norm(NormSpec spec, Consumer<NormBuilder<?>> more) {
    NormBuilder<?> builder = spec.builder(WIDTH);
    more.accept(builder);
    return builder.build();
  }

  private static RowNormalizer stage(NormSpec spec) {
    return new RowNormalizer().setNorm(spec.toString());
  }

  /** Where a row is a piece of a column that is read in batches, or of Parquet's own rows. */
  @ParameterizedTest
  @CsvSource({"true, true", "true, false", "false, true"})
  void fromParquet(boolean vectorized, boolean dictionary) {
    SparkSession spark = LocalSpark.of(2);
    spark.conf().set("spark.sql.parquet.enableVectorizedReader", vectorized);
    try {
      for (RowColumn column : columns().toList()) {
        Sample sample = Sample.of(column.element(), WIDTH, ROWS, random);
        String path = directory.resolve(column.toString()).toUri().toString();
        sample
            .dataset(spark, column, 2)
            .write()
            .option("parquet.enable.dictionary", dictionary)
            .parquet(path);
        RowNormalizer stage = new RowNormalizer().setOutputType("f32");
        if (column.container() == Container.BINARY) {
          stage.setInputType(column.element().toString());
        }
        assertThat(bits(stage, spark.read().parquet(path), ElementType.FLOAT32))
            .as("%s", column)
            .isEqualTo(sample.normalised(RmsNorm.builder(WIDTH).build(), ElementType.FLOAT32));
      }
    } finally {
      spark.conf().unset("spark.sql.parquet.enableVectorizedReader");
    }
  }

  @Test
  void whereSparkGeneratesNoCode() {
    SparkSession spark = LocalSpark.of(2);
    spark.conf().set("spark.sql.codegen.wholeStage", "false");
    spark.conf().set("spark.sql.codegen.factoryMode", "NO_CODEGEN");
    try {
      List<RowColumn> columns = columns().toList();
      for (int i = 0; i < columns.size(); i++) {
        List<ElementType> all = List.of(ElementType.values());
        boolean each = Boolean.getBoolean("tests.all");
        fromColumn(columns.get(i), each ? all : List.of(all.get((i + 1) % all.size())));
      }
    } finally {
      spark.conf().unset("spark.sql.codegen.wholeStage");
      spark.conf().unset("spark.sql.codegen.factoryMode");
    }
  }

  private void same(Norm norm, RowNormalizer stage, ElementType type) {
    Sample sample = Sample.of(type, WIDTH, ROWS, random);
    Dataset<Row> rows = sample.dataset(LocalSpark.of(2), new RowColumn(Container.BINARY, type), 3);
    stage.setInputType(type.shortName());
    assertThat(bits(stage, rows, type))
        .as("%s, %s", stage.extractParamMap(), type)
        .isEqualTo(sample.normalised(norm, type));
  }

  private static List<String> bits(RowNormalizer stage, Dataset<Row> rows, ElementType type) {
    stage.setInputCol("x").setOutputCol("y");
    // Sorted here: Spark would run two more jobs for it.
    return stage.transform(rows).select("id", "y").collectAsList().stream()
        .sorted(Comparator.comparingInt(row -> row.getInt(0)))
        .map(row -> Sample.bits(row.get(1), type))
        .toList();
  }

  /** Numbers that every type has. */
  private double[] parameter(int width) {
    return IntStream.range(0, width).mapToDouble(i -> (random.nextInt(255) - 127) / 64.0).toArray();
  }
}
