package io.github.rmsnorm4j.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.rmsnorm4j.cuda.check.DeviceResults;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptDeviceTest {
  /** Results that nobody measured. */
  private static final String MADE = "a-gpu-that-is-made-up.json";

  private static String made() throws IOException {
    try (InputStream in = KeptDeviceTest.class.getResourceAsStream(MADE)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** The file is written without a library, and read with one. */
  @Test
  void resultsAreKeptWithTheirTables(@TempDir Path checkout) throws IOException {
    DeviceResults results = new JsonMapper().readValue(made(), DeviceResults.class);
    Path file = KeptDevice.keep(checkout, results);
    assertThat(KeptDevice.keep(checkout, results)).isEqualTo(file).hasFileName(MADE);
    assertThat(file).hasContent(made());
    assertThat(file.resolveSibling("a-gpu-that-is-made-up.md"))
        .hasContent(
            """
            # A GPU that is made up

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

            Raw results: [a-gpu-that-is-made-up.json](a-gpu-that-is-made-up.json).
            """);
  }
}
