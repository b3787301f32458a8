package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.spark.RowColumn.Container;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.feature.Normalizer;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stages that are saved and loaded, alone and within a pipeline. */
class PersistenceTest {
  private static final double[] GAIN = {1, -0.0, Double.NaN, 0x1p-149, 0.1, 1e300, -3, 1e-320};

  @TempDir private Path directory;
  private SparkSession spark;

  @BeforeEach
  void start() {
    spark = LocalSpark.of(2);
  }

  private String path() {
    return directory.resolve("stage").toUri().toString();
  }

  @Test
  void aStageWithEveryParam() throws IOException {
    RowNormalizer stage =
        new RowNormalizer("stage")
            .setInputCol("x")
            .setOutputCol("y")
            .setWidth(GAIN.length)
            .setGain(GAIN)
            .setGainType("float64")
            .setBias(GAIN)
            .setNorm("rmsnorm(eps=4.9e-324 floor, offset=0.1, part=0.3 down)")
            .setInputType("bf16")
            .setOutputType("f64")
            .setHandleInvalid("skip");
    assertThat(stage.params()).allMatch(stage::isSet);
    stage.save(path());
    RowNormalizer loaded = RowNormalizer.load(path());
    assertThat(loaded.uid()).isEqualTo("stage");
    assertThat(loaded.params()).allMatch(loaded::isSet);
    assertThat(loaded.settings()).isEqualTo(stage.settings());
    assertThat(loaded.getGain()).isEqualTo(GAIN);
    assertThat(loaded.getOutputType()).isEqualTo("f64");
    assertThat(loaded.getHandleInvalid()).isEqualTo("skip");
  }

  @Test
  void aStageWithNone() throws IOException {
    new RowNormalizer("stage").save(path());
    RowNormalizer loaded = RowNormalizer.load(path());
    assertThat(loaded.params())
        .noneMatch(loaded::isSet)
        .filteredOn(loaded::isDefined)
        .containsExactlyInAnyOrder(loaded.outputCol(), loaded.norm(), loaded.handleInvalid());
    assertThat(loaded.getOutputCol()).isEqualTo("stage__output");
  }

  @Test
  void aPipelineGivesTheSameBits() throws IOException {
    Random random = new Random(11);
    Sample sample = Sample.of(ElementType.FLOAT64, 12, 40, random);
    Dataset<Row> rows =
        sample.dataset(spark, new RowColumn(Container.VECTOR, ElementType.FLOAT64), 3);
    double[] gain = random.doubles(12).toArray();
    Pipeline pipeline =
        new Pipeline()
            .setStages(
                new PipelineStage[] {
                  new RowNormalizer()
                      .setNorm("layernorm")
                      .setInputCol("x")
                      .setOutputCol("centred")
                      .setGain(gain),
                  new RowNormalizer().setInputCol("centred").setOutputCol("y").setNorm("gemma"),
                  new Normalizer().setInputCol("y").setOutputCol("z")
                });
    pipeline.save(path() + "1");
    PipelineModel model = Pipeline.load(path() + "1").fit(rows);
    model.save(path() + "2");
    assertThat(bits(PipelineModel.load(path() + "2"), rows))
        .hasSize(40)
        .isEqualTo(bits(pipeline.fit(rows), rows));
  }

  private static List<String> bits(PipelineModel model, Dataset<Row> rows) {
    return model.transform(rows).orderBy("id").select("y").collectAsList().stream()
        .map(row -> Sample.bits(row.get(0), ElementType.FLOAT64))
        .toList();
  }

  /** As when somebody's own code has one in a closure. */
  @Test
  void aStageInJavasOwnForm() throws IOException, ClassNotFoundException {
    RowNormalizer stage = new RowNormalizer("stage").setNorm("llama(eps=0.5)");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(stage);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      RowNormalizer read = (RowNormalizer) in.readObject();
      assertThat(read.settings()).isEqualTo(stage.settings());
    }
  }
}
