package io.github.rmsnorm4j.spark.measure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.spark.measure.SparkResults.Contest;
import io.github.rmsnorm4j.spark.measure.SparkResults.Large;
import io.github.rmsnorm4j.spark.measure.SparkResults.Times;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class SparkTablesTest {
  @Test
  void ratiosAreOfMediansAndTargetsAreMetOrMissed() {
    assertThat(SparkTables.of(results()))
        .contains("| array | 1000 x 64 | copy | 2.00 (1.00 to 9.00) | 0 | | | | |\n")
        .contains("| RMSNorm | 2.50 (2.50 to 2.50) | 0 | copy | 1.25 | at most 1.25 | met |")
        .contains("| LayerNorm | 2.60 (2.60 to 2.60) | 0 | copy | 1.30 | at most 1.25 |")
        .contains("| **missed** |")
        .contains("| Normalizer of spark.ml | 0.75 | at most 0.80 | met |")
        .contains("| 1000000 | 1.00 (1.00 to 1.00) | 1.10 (1.00 to 1.20) | 1.10 | 1.10 |")
        .contains(
            "7 rows of 64, 2.00 GB of Parquet, with `-Xmx1g`: 30 s", "at most 1.50 GB of memory");
  }

  private static SparkResults results() {
    return new SparkResults(
        "2026-01-31",
        null,
        new Machine("A", 2, "s", "j", List.of("-f"), "b", 256),
        "4",
        100,
        List.of(
            new Contest(
                "array",
                1000,
                64,
                256_000,
                List.of(
                    times(Jobs.COPY, 9, 1, 2),
                    times(Jobs.RMS_NORM, 2.5),
                    times(Jobs.LAYER_NORM, 2.6))),
            new Contest(
                "vector",
                1,
                1,
                8,
                List.of(times(Jobs.COPY, 2), times(Jobs.RMS_NORM, 3), times(Jobs.SPARK_ML, 4)))),
        List.of(growth(1), growth(2)),
        new Large(7, 64, 2_000_000_000, "-Xmx1g", 30, 1_500_000_000));
  }

  private static Contest growth(int millions) {
    long rows = millions * 1_000_000L;
    return new Contest(
        "g",
        rows,
        64,
        rows * 256,
        List.of(times(Jobs.COPY, millions), times(Jobs.RMS_NORM, 1.2, 1)));
  }

  private static Times times(String job, double... seconds) {
    return new Times(job, Arrays.stream(seconds).boxed().toList());
  }
}
