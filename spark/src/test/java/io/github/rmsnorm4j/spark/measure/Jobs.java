package io.github.rmsnorm4j.spark.measure;

import static org.apache.spark.sql.functions.col;

import io.github.rmsnorm4j.spark.RowNormalizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.feature.Normalizer;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** Jobs on the same rows, in turn, and what each took. */
final class Jobs {
  static final String COPY = "copy";
  static final String RMS_NORM = "RMSNorm";
  static final String LAYER_NORM = "LayerNorm";
  static final String SPARK_ML = "Normalizer of spark.ml";

  private static final String RESULT = "result";

  private final SparkSession session;
  private final GeneratedRows rows;
  private final Path in;
  private final Path out;

  /** Whether all is from Parquet to Parquet, or from memory, with results that are dropped. */
  private final boolean written;

  Jobs(SparkSession session, GeneratedRows rows, Path folder, boolean written) {
    this.session = session;
    this.rows = rows;
    this.in = folder.resolve("in.parquet");
    this.out = folder.resolve("out.parquet");
    this.written = written;
  }

  /**
   * Times jobs, after rounds that are not counted. The answers of the first one are checked.
   *
   * @param names which
   * @return seconds, a number per round
   */
  List<SparkResults.Times> measure(long count, List<String> names, int warmups, int rounds)
      throws IOException {
    Map<String, List<Double>> seconds = new LinkedHashMap<>();
    Dataset<Row> stored = session.read().parquet(in.toString());
    Dataset<Row> source = written ? stored : stored.cache();
    source.count();
    for (int round = -warmups; round < rounds; round++) {
      for (String name : names) {
        Dataset<Row> result = result(name, source);
        long start = System.nanoTime();
        if (written) {
          result.write().parquet(out.toString());
        } else {
          result.write().format("noop").mode("overwrite").save();
        }
        double took = (System.nanoTime() - start) * 1e-9;
        if (round >= 0) {
          seconds.computeIfAbsent(name, ignored -> new ArrayList<>()).add(took);
        }
        if (round == -warmups && written && name.equals(RMS_NORM)) {
          rows.requireNormalised(session, count, out);
        }
        delete(out);
      }
    }
    source.unpersist(true);
    List<SparkResults.Times> times = new ArrayList<>();
    seconds.forEach((name, list) -> times.add(new SparkResults.Times(name, list)));
    return times;
  }

  /** What the job on a column gives: the id, and the column or what became of it. */
  private static Dataset<Row> result(String name, Dataset<Row> rows) {
    Transformer transformer =
        switch (name) {
          case COPY -> null;
          case RMS_NORM, LAYER_NORM ->
              new RowNormalizer()
                  .setInputCol(GeneratedRows.COLUMN)
                  .setOutputCol(RESULT)
                  .setNorm(name.toLowerCase(Locale.ROOT));
          case SPARK_ML -> new Normalizer().setInputCol(GeneratedRows.COLUMN).setOutputCol(RESULT);
          default -> throw new IllegalArgumentException(name);
        };
    return transformer == null
        ? rows
        : transformer.transform(rows).select(col("id"), col(RESULT).as(GeneratedRows.COLUMN));
  }

  static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
