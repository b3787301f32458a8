package io.github.rmsnorm4j.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Bits;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Difference;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Timed;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Times;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResultTextTest {
  private static final Contest FORWARD =
      new Contest(NormSpec.Kind.RMS_NORM, Contest.Job.FORWARD, ElementType.FLOAT32, 4096);
  private static final Contest RESIDUAL =
      new Contest(NormSpec.Kind.RMS_NORM, Contest.Job.RESIDUAL, ElementType.FLOAT32, 1024);
  private static final Contest BACKWARD =
      new Contest(NormSpec.Kind.LAYER_NORM, Contest.Job.BACKWARD, ElementType.BFLOAT16, 1024);

  private static Times times(String system, double... micros) {
    return new Times(system, null, Arrays.stream(micros).boxed().toList());
  }

  private static DeviceResults results(
      Bits bits, List<DeviceResults.Error> errors, Timed... times) {
    return new DeviceResults(
        "2026-01-31",
        "1.2.3 (commit abc)",
        "25",
        new DeviceResults.Device("A GPU", "9.0", 85_000_000_000L, "12.4", List.of("one", "two")),
        bits,
        errors,
        List.of(times),
        null,
        "torch 9.9 on A GPU");
  }

  /** Shares of the copy: 2/2 * 90/100 = 0.90, 4/2 * 90/300 = 0.60, 3/2 * 60/100 = 0.90. */
  private static DeviceResults whole() {
    return results(
        new Bits(7, List.of()),
        List.of(new DeviceResults.Error("a call", 1.234, 0.567, null)),
        new Timed(
            FORWARD,
            8192,
            List.of(times("rmsnorm4j", 1, 100, 900), times("copy", 90), times("torch", 80))),
        new Timed(
            RESIDUAL,
            10,
            List.of(times("rmsnorm4j", 300), times("copy", 80, 100), times("torch", 1))),
        new Timed(
            BACKWARD,
            10,
            List.of(
                times("rmsnorm4j", 100),
                times("copy", 60),
                new Times("torch", "no such function", List.of()))));
  }

  @Test
  void figuresAreComputedFromTheRounds() {
    assertThat(ResultText.of(whole()))
        .isEqualTo(
            """
            ### A GPU

            Checked on 2026-01-31 with rmsnorm4j 1.2.3 (commit abc). Compute capability 9.0, 79 GiB, a driver for CUDA 12.4. Java 25.

            All 7 calls of small shapes have the bytes of the CPU, guards included.

            | call   | bits      | largest error, ulp | of the bound |
            | ------ | --------- | -----------------: | -----------: |
            | a call | the CPU's |               1.23 |         0.57 |

            PyTorch: torch 9.9 on A GPU.

            | call                                                      | rows |    µs | GB/s | of the copy | goal | torch, µs | of torch |
            | --------------------------------------------------------- | ---: | ----: | ---: | ----------: | ---: | --------: | -------: |
            | RMSNorm forward, float32, width 4096                      | 8192 | 100.0 | 2684 |        0.90 | 0.85 |      80.0 | **1.25** |
            | RMSNorm forward, added to a residual, float32, width 1024 |   10 | 300.0 |    1 |    **0.60** | 0.70 |       1.0 |   300.00 |
            | LayerNorm backward, bfloat16, width 1024                  |   10 | 100.0 |    1 |        0.90 | 0.75 |      none |     none |

            Of 4 goals 2 are met.

            * LayerNorm backward, bfloat16, width 1024: no times of torch: no such function
            """);
    assertThat(Goals.of(whole().times()).missed())
        .containsExactly(
            "RMSNorm forward, float32, width 4096: 1.25 of torch's time, the goal is 1.00",
            "RMSNorm forward, added to a residual, float32, width 1024: 0.60 of the copy's"
                + " bandwidth, the goal is 0.70");
  }

  @Test
  void differencesAreShown() {
    Bits bits = new Bits(9, Collections.nCopies(25, new Difference("a call", "y: no")));
    DeviceResults wrong = results(bits, List.of(new DeviceResults.Error("b", 9, 1.5, "x | y")));
    assertThat(ResultText.of(wrong))
        .contains("**25 of 9 calls differ from the CPU:**\n\n* a call: y: no\n")
        .contains("* and so on\n")
        .contains("| **others**: x / y |")
        .contains("|     **1.50** |");
    assertThat(wrong.passed()).isFalse();
    assertThat(whole().passed()).isTrue();
  }

  @Test
  void jsonIsText() {
    assertThat(Json.text(new Difference("a \"call\"\n", "\\ µ")))
        .isEqualTo("{\n  \"call\" : \"a \\\"call\\\"\\u000a\",\n  \"what\" : \"\\\\ µ\"\n}\n");
    assertThat(Json.text(new Timed(FORWARD, 3, List.of(times("copy", 1, Double.NaN)))))
        .contains("\"kind\" : \"RMS_NORM\"")
        .contains("\"micros\" : [1.0, null]")
        .contains("\"refused\" : null");
    assertThat(Json.text(whole())).contains("\"errors\" : [\n    {").contains("\"ulps\" : 1.234");
  }

  @Test
  void theDriversToolMayBeMissing() {
    assertThat(NvidiaSmi.lines("before", List.of("no-such-tool")))
        .containsExactly("before: no-such-tool is not there");
    assertThat(NvidiaSmi.lines("after", List.of("echo", "0, NVIDIA")))
        .containsExactly("after: 0, NVIDIA");
  }
}
