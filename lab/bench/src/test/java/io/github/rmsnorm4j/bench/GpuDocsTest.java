package io.github.rmsnorm4j.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.rmsnorm4j.cli.testing.Shell;
import io.github.rmsnorm4j.cuda.check.DeviceResults;
import io.github.rmsnorm4j.cuda.check.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuDocsTest {
  private static final String PAGE = "before\n<!-- begin check -->\nold\n<!-- end -->\nafter\n";

  /** Results that nobody measured. */
  private static final String MADE = "2026-01-31-a-gpu-cuda.json";

  private static final String NONE =
      """
      before
      <!-- begin check -->

      Nothing was measured on a GPU: docs/benchmarks has no results of one.

      <!-- end -->
      after
      """;

  @TempDir Path checkout;
  private Path page;
  private Path folder;

  @BeforeEach
  void page() throws IOException {
    folder = Files.createDirectories(checkout.resolve("docs/benchmarks"));
    page = Files.writeString(checkout.resolve("docs/gpu.md"), PAGE);
  }

  private static String made() throws IOException {
    try (InputStream in = GpuDocsTest.class.getResourceAsStream(MADE)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void everyFigureOnThePageComesFromTheFilesOfResults() throws IOException {
    assertThat(Shell.CHECKOUT.resolve("docs/gpu.md"))
        .as("./rmsnorm bench --page makes it again")
        .content()
        .isEqualTo(new GpuDocs(Shell.CHECKOUT).rendered());
  }

  @Test
  void withoutResultsThePageSaysSo() throws IOException {
    Files.writeString(folder.resolve("2026-01-31-a-spark.json"), "for another program");
    assertThat(new GpuDocs(checkout).refresh()).isEmpty();
    assertThat(page).hasContent(NONE);
  }

  @Test
  void tablesAreMadeFromTheFiles() throws IOException {
    Files.writeString(folder.resolve(MADE), made());
    assertThat(new GpuDocs(checkout).refresh()).containsExactly(folder.resolve(MADE));
    assertThat(page)
        .hasContent(
            """
            before
            <!-- begin check -->

            ### A GPU that is made up

            Checked on 2026-01-31 with rmsnorm4j 1.2.3 (commit abc). Compute capability 9.0, 80 GiB, a driver for CUDA 12.4. Java 25.0.1.

            All 7 calls of small shapes have the bytes of the CPU, guards included.

            | call                                  | bits      | largest error, ulp | of the bound |
            | ------------------------------------- | --------- | -----------------: | -----------: |
            | RMSNorm float32 8192 x 4096           | the CPU's |               1.25 |         0.50 |
            | RMSNorm float32 8192 x 4096, backward | the CPU's |               2.00 |         none |

            PyTorch: torch 9.9 on A GPU that is made up.

            | call                                 | rows |    µs | GB/s | of the copy | goal | torch, µs | of torch |
            | ------------------------------------ | ---: | ----: | ---: | ----------: | ---: | --------: | -------: |
            | RMSNorm forward, float32, width 4096 | 8192 | 100.0 | 2684 |        0.85 | 0.85 |     125.0 |     0.80 |

            Of 2 goals 2 are met.

            All results: [2026-01-31-a-gpu-cuda.json](benchmarks/2026-01-31-a-gpu-cuda.json).

            <!-- end -->
            after
            """);
  }

  @Test
  void aFigureThatChangesShows() throws IOException {
    Files.writeString(folder.resolve(MADE), made());
    GpuDocs docs = new GpuDocs(checkout);
    docs.refresh();
    Files.writeString(page, Files.readString(page).replace("0.80 |", "0.79 |"));
    assertThat(docs.rendered()).isNotEqualTo(Files.readString(page));
  }

  @Test
  void aFileThatIsNoResultIsNamedAndThePageStays() throws IOException {
    Path file = folder.resolve(MADE);
    for (String text : List.of("{", "{\"a\": 1}", "{\"date\": \"2026-01-31\"}", "[]")) {
      Files.writeString(file, text);
      assertThatThrownBy(() -> new GpuDocs(checkout).refresh())
          .isInstanceOf(IOException.class)
          .hasMessage(file + " is damaged, or not a file of results of this version's cuda/check");
    }
    assertThat(page).hasContent(PAGE);
  }

  /** The file is written without a library, and read with one. */
  @Test
  void whatIsKeptIsReadAgain() throws IOException {
    DeviceResults results = new JsonMapper().readValue(made(), DeviceResults.class);
    assertThat(Json.text(results)).isEqualToNormalizingNewlines(made());
    Path file = new GpuDocs(checkout).keep(results);
    assertThat(file).hasFileName("2026-01-31-a-gpu-that-is-made-up-cuda.json").hasContent(made());
    assertThat(page).content().contains("Of 2 goals 2 are met.");
  }

  @Test
  void aPageWithoutItsMarkersIsLeftAlone() throws IOException {
    Files.writeString(page, "no markers\n");
    assertThatThrownBy(() -> new GpuDocs(checkout).refresh())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("lacks the lines <!-- begin check --> and <!-- end -->");
    assertThat(page).hasContent("no markers\n");
  }
}
