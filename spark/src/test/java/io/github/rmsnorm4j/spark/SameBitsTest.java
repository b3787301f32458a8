package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.spark.RowColumn.Container;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
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
    RmsNormalizer stage = new RmsNormalizer().setGain(gain).setEpsilon(1e-5);
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
    SparkSession spark = LocalSpark.of(2);
    double[] gain = parameter(WIDTH);
    double[] bias = parameter(WIDTH);
    Norm norm = LayerNorm.builder(WIDTH).gain(gain).bias(bias).build();
    Sample sample = Sample.of(column.element(), WIDTH, ROWS, random);
    Dataset<Row> rows = sample.dataset(spark, column, 3);
    for (ElementType type : ElementType.values()) {
      LayerNormalizer stage =
          new LayerNormalizer().setGain(gain).setBias(bias).setOutputType(type.shortName());
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
    assertThat(bits(new RmsNormalizer(), sample.dataset(spark, column, 2), ElementType.FLOAT32))
        .isEqualTo(sample.normalised(RmsNorm.builder(width).build(), ElementType.FLOAT32));
    assertThat(bits(new LayerNormalizer(), sample.dataset(spark, column, 2), ElementType.FLOAT32))
        .isEqualTo(sample.normalised(LayerNorm.builder(width).build(), ElementType.FLOAT32));
  }

  @ParameterizedTest
  @EnumSource(Preset.class)
  void thePresets(Preset preset) {
    double[] gain = parameter(WIDTH);
    Rows stored = StoredGain.of(gain, ElementType.BFLOAT16);
    for (ElementType type : ElementType.values()) {
      same(
          preset.builder(WIDTH, type).gain(stored).build(),
          new RmsNormalizer()
              .setPreset(preset.name())
              .setGain(gain)
              .setGainType("bf16")
              .setWidth(WIDTH),
          type);
    }
    same(
        preset.builder(WIDTH, ElementType.BFLOAT16).gainOffset(0).build(),
        new RmsNormalizer().setPreset(preset.name()),
        ElementType.BFLOAT16);
  }

  @Test
  void theOtherChoices() {
    double[] gain = parameter(WIDTH);
    same(
        RmsNorm.builder(WIDTH).castOrder(CastOrder.ONNX).gain(gain).build(),
        new RmsNormalizer().setCastOrder("onnx").setGain(gain),
        ElementType.FLOAT16);
    same(
        RmsNorm.builder(WIDTH).castOrder(CastOrder.T5).gain(gain).build(),
        new RmsNormalizer().setCastOrder("t5").setGain(gain),
        ElementType.BFLOAT16);
    same(
        RmsNorm.llama(WIDTH).castOrder(CastOrder.FLOAT32).gainOffset(1).gain(gain).build(),
        new RmsNormalizer()
            .setPreset("llama")
            .setCastOrder("float32")
            .setGainOffset(1)
            .setGain(gain),
        ElementType.BFLOAT16);
    same(
        RmsNorm.builder(WIDTH)
            .epsilon(1e-3)
            .epsilonPlacement(EpsilonPlacement.FLOOR)
            .partial(0.3)
            .build(),
        new RmsNormalizer().setEpsilon(1e-3).setEpsilonPlacement("floor").setPartial(0.3),
        ElementType.FLOAT32);
    same(
        RmsNorm.builder(WIDTH).partialRoundedDown(0.3).build(),
        new RmsNormalizer().setPartial(0.3).setPartialRounding("down"),
        ElementType.FLOAT64);
    same(
        LayerNorm.builder(WIDTH)
            .epsilon(0.5)
            .epsilonPlacement(EpsilonPlacement.OUTSIDE)
            .gain(gain)
            .gainOffset(-2)
            .build(),
        new LayerNormalizer()
            .setEpsilon(0.5)
            .setEpsilonPlacement("outside")
            .setGain(gain)
            .setGainOffset(-2),
        ElementType.FLOAT32);
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
        RmsNormalizer stage = new RmsNormalizer().setOutputType("f32");
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
      columns().forEach(this::fromEveryColumnToEveryType);
    } finally {
      spark.conf().unset("spark.sql.codegen.wholeStage");
      spark.conf().unset("spark.sql.codegen.factoryMode");
    }
  }

  private void same(Norm norm, RowNormalizer<?> stage, ElementType type) {
    Sample sample = Sample.of(type, WIDTH, ROWS, random);
    Dataset<Row> rows = sample.dataset(LocalSpark.of(2), new RowColumn(Container.BINARY, type), 3);
    stage.setInputType(type.shortName());
    assertThat(bits(stage, rows, type))
        .as("%s, %s", stage.extractParamMap(), type)
        .isEqualTo(sample.normalised(norm, type));
  }

  private static List<String> bits(RowNormalizer<?> stage, Dataset<Row> rows, ElementType type) {
    stage.setInputCol("x").setOutputCol("y");
    return stage.transform(rows).orderBy("id").select("y").collectAsList().stream()
        .map(row -> Sample.bits(row.get(0), type))
        .toList();
  }

  /** Numbers that every type has. */
  private double[] parameter(int width) {
    return IntStream.range(0, width).mapToDouble(i -> (random.nextInt(255) - 127) / 64.0).toArray();
  }
}
