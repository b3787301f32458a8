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
  void contestsOfTheSameJobsAreOneTable() {
    assertThat(SparkTables.of(results()))
        .isEqualTo(
            """
            A, 2 processors, s, Spark 4 on j with a heap of 100 MiB, 2026-01-31. Medians in seconds.

            | array&lt;float&gt; | copy | RMSNorm | LayerNorm |
            | --- | ---: | ---: | ---: |
            | 1,000 x 64 | 2.00 | 2.50 | 2.60 |

            | vector | copy | RMSNorm | Normalizer of spark.ml |
            | --- | ---: | ---: | ---: |
            | 1 x 1 | 2.00 | 3.00 | 4.00 |

            | array&lt;float&gt; | copy | RMSNorm |
            | --- | ---: | ---: |
            | 1,000,000 x 64 | 1.00 | 1.10 |
            | 2,000,000 x 64 | 2.00 | 1.10 |

            In little memory: 7 rows of 64, 2.00 GB of Parquet, with `-Xmx1g`: 30 s, 1.50 GB of memory at most.
            """);
  }

  private static SparkResults results() {
    return new SparkResults(
        "2026-01-31",
        null,
        new Machine("A", 2, "s", "j (of a vendor)", List.of("-f"), "b", 256),
        "4",
        100,
        List.of(
            new Contest(
                "array&lt;float&gt;",
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
        millions + " million rows",
        rows,
        64,
        rows * 256,
        List.of(times(Jobs.COPY, millions), times(Jobs.RMS_NORM, 1.2, 1)));
  }

  private static Times times(String job, double... seconds) {
    return new Times(job, Arrays.stream(seconds).boxed().toList());
  }
}
