import io.github.rmsnorm4j.spark.RowNormalizer;
import java.io.IOException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** Spark ML's transformer on a column of arrays, on two threads of this machine. */
public final class Embeddings {
  public static void main(String[] args) throws IOException {
    try (SparkSession spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .getOrCreate()) {
      Dataset<Row> rows =
          spark.range(3).selectExpr("id", "array(float(id), 1f, -2f, 3f) AS embedding");

      RowNormalizer norm =
          new RowNormalizer()
              .setInputCol("embedding")
              .setOutputCol("normed")
              .setNorm("llama(eps=1e-5)")
              .setGain(new double[] {0.5, 1, 2, 1.5});

      for (Row row : norm.transform(rows).orderBy("id").collectAsList()) {
        System.out.println(row.getLong(0) + " " + row.getList(2));
      }
    }
  }
}
