package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.L2Norm;
import io.github.rmsnorm4j.Norm;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.apache.spark.ml.param.Param;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What docs/spark.md says of the transformers. */
class TransformersPageTest {
  private static final Path PAGE = Path.of("..", "docs", "spark.md");
  private static final Pattern PARAM = Pattern.compile("(?m)^\\| `(\\w+)` \\| ([^|]*) \\|");
  private static final Pattern JAVA = Pattern.compile("(?s)```java\n(.*?)```");

  @TempDir private Path directory;

  @Test
  void theTableHasEveryParam() throws IOException {
    String page = Files.readString(PAGE);
    String table = page.substring(page.indexOf("### Params"), page.indexOf("### Nulls"));
    List<String> named = PARAM.matcher(table).results().map(row -> row.group(1)).toList();
    assertThat(named)
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(new RowNormalizer().params()).map(Param::name).toList());
  }

  /** Words that a row of the table allows are allowed. */
  @Test
  void theTablesWordsAreAllowed() throws IOException {
    RowNormalizer stage = new RowNormalizer();
    Matcher row = PARAM.matcher(Files.readString(PAGE));
    int words = 0;
    while (row.find()) {
      Matcher word = Pattern.compile("`([a-z0-9][^`]+)`").matcher(row.group(2));
      while (word.find()) {
        stage.set(row.group(1), word.group(1));
        words++;
      }
    }
    assertThat(words).isGreaterThan(20);
  }

  @Test
  void theLinesOfJavaDoWhatTheySay() throws Exception {
    SparkSession spark = LocalSpark.of(2);
    String in = directory.resolve("in.parquet").toString();
    spark
        .range(5)
        .selectExpr("id", "array(float(id), 1f, -2f, 3f) AS embedding")
        .write()
        .parquet(in);
    List<String> blocks =
        JAVA.matcher(Files.readString(PAGE)).results().map(block -> block.group(1)).toList();
    assertThat(blocks).hasSize(2);
    run(
        String.join("", blocks)
            .replace("in.parquet", in)
            .replace("out.parquet", directory.resolve("out.parquet").toString())
            .replace("unit.parquet", directory.resolve("unit.parquet").toString())
            .replace("\"model\"", "\"" + directory.resolve("model") + "\""),
        spark);

    Dataset<Row> unit = spark.read().parquet(directory.resolve("unit.parquet").toString());
    L2Norm l2 = Norm.l2(4).build();
    for (Row row : unit.collectAsList()) {
      float[] y = {row.getLong(0), 1, -2, 3};
      l2.apply(y, y);
      assertThat(row.getList(2)).isEqualTo(List.of(y[0], y[1], y[2], y[3]));
    }
    assertThat(unit.count()).isEqualTo(5);

    Dataset<Row> wanted =
        new RowNormalizer()
            .setInputCol("embedding")
            .setOutputCol("normed")
            .setGain(new double[] {0.5, 1, 2, 1.5})
            .transform(spark.read().parquet(in));
    Dataset<Row> written = spark.read().parquet(directory.resolve("out.parquet").toString());
    assertThat(written.orderBy("id").collectAsList())
        .hasSize(5)
        .isEqualTo(wanted.orderBy("id").collectAsList());
    assertThat(directory.resolve("model").resolve("stages")).isDirectory();
  }

  private void run(String lines, SparkSession spark) throws Exception {
    Path source = directory.resolve("Lines.java");
    Files.writeString(
        source,
        """
        import io.github.rmsnorm4j.spark.*;
        import org.apache.spark.ml.*;
        import org.apache.spark.sql.*;
        public class Lines {
          public static void run(SparkSession spark) throws Exception {
        %s
          }
        }
        """
            .formatted(lines));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    boolean compiled =
        compiler
            .getTask(
                said,
                null,
                null,
                List.of("-proc:none", "-cp", System.getProperty("java.class.path")),
                null,
                compiler.getStandardFileManager(null, null, null).getJavaFileObjects(source))
            .call();
    assertThat(compiled).as(said.toString()).isTrue();
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {directory.toUri().toURL()}, getClass().getClassLoader())) {
      loader.loadClass("Lines").getMethod("run", SparkSession.class).invoke(null, spark);
    }
  }
}
