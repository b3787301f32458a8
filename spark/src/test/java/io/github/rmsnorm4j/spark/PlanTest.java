package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.spark.RowColumn.Container;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.spark.launcher.JavaModuleOptions;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.debug.package$;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Spark makes of a transformation: when it is computed, how often, and of which columns. */
class PlanTest {
  private static final RowColumn FLOATS = new RowColumn(Container.ARRAY, ElementType.FLOAT32);

  @TempDir private Path directory;
  private SparkSession spark;
  private Dataset<Row> rows;

  @BeforeEach
  void start() {
    spark = LocalSpark.of(2);
    // From a file: of rows that lie in the plan itself Spark computes a part while it plans.
    String path = directory.resolve("rows.parquet").toUri().toString();
    Sample.of(ElementType.FLOAT32, 8, 20, new Random(3))
        .dataset(spark, FLOATS, 2)
        .write()
        .parquet(path);
    rows = spark.read().parquet(path);
    // Plans that change while they run do not show what is run.
    spark.conf().set("spark.sql.adaptive.enabled", "false");
  }

  @AfterEach
  void adaptAgain() {
    spark.conf().unset("spark.sql.adaptive.enabled");
  }

  private static RowNormalizer stage() {
    return new RowNormalizer().setInputCol("x").setOutputCol("y");
  }

  private static String plan(Dataset<Row> dataset) {
    return dataset.queryExecution().executedPlan().toString();
  }

  @Test
  void nothingIsComputedBeforeItIsAskedFor() {
    Dataset<Row> broken = stage().setWidth(9).transform(rows);
    assertThat(broken.columns()).containsExactly("id", "x", "y");
    assertThatThrownBy(broken::collect).hasStackTraceContaining("a row is 8 wide, it must be 9");
  }

  @Test
  void aResultThatNobodyAsksForIsNotComputed() {
    assertThat(stage().setWidth(9).transform(rows).select("id").collectAsList()).hasSize(20);
  }

  @Test
  void onlyTheColumnIsReadFromAFile() {
    Dataset<Row> result = stage().transform(rows).select("y");
    assertThat(plan(result)).contains("ReadSchema: struct<x:array<float>>");
    assertThat(result.collectAsList()).hasSize(20);
  }

  /** Where rows are skipped as well: what is valid is asked of the rows. */
  @Test
  void everyResultIsComputedOnce() {
    Dataset<Row> result = stage().setHandleInvalid("skip").setWidth(8).transform(rows);
    String plan = plan(result.filter("id > 3"));
    assertThat(plan.split("\\.apply\\(", -1)).as(plan).hasSize(2);
    assertThat(plan).containsPattern("Filter .*\\.isValid\\(");
    assertThat(result.collectAsList()).hasSize(20);
  }

  @Test
  void itIsPartOfTheGeneratedCode() {
    Dataset<Row> result = stage().transform(rows);
    assertThat(package$.MODULE$.codegenString(result.queryExecution().executedPlan()))
        .contains("io.github.rmsnorm4j.spark.RowFunction");
  }

  @Test
  void equalTransformationsShareWhatIsCached() {
    double[] gain = {1, 2, 3, 4, 5, 6, 7, 8};
    Dataset<Row> cached = stage().setGain(gain).transform(rows).cache();
    try {
      assertThat(plan(stage().setGain(gain.clone()).transform(rows))).contains("InMemoryTableScan");
      assertThat(plan(stage().setNorm("rmsnorm( eps=1E-06 )").setGain(gain).transform(rows)))
          .contains("InMemoryTableScan");
      assertThat(plan(stage().setNorm("llama").setGain(gain).transform(rows)))
          .doesNotContain("InMemoryTableScan");
      gain[7] = -8;
      assertThat(plan(stage().setGain(gain).transform(rows))).doesNotContain("InMemoryTableScan");
      assertThat(plan(stage().transform(rows))).doesNotContain("InMemoryTableScan");
    } finally {
      cached.unpersist(true);
    }
  }

  /** The tests' JVM is started like those of Spark's own launchers. */
  @Test
  void theFlagsAreThoseOfSpark() {
    assertThat(ManagementFactory.getRuntimeMXBean().getInputArguments())
        .containsAll(
            Arrays.stream(JavaModuleOptions.defaultModuleOptionArray())
                .filter(flag -> !flag.startsWith("-XX"))
                // A package that JDK 25 lacks, and warns of where it is named.
                .filter(flag -> !flag.contains("sun.security.action"))
                .toList());
  }
}
