package io.github.rmsnorm4j.benchmarks.peers;

import static io.github.rmsnorm4j.benchmarks.peers.TargetTest.time;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import java.util.List;
import org.junit.jupiter.api.Test;

class VariantTableTest {
  private static final Contest PROMPT = Contest.forward(Kernel.RMS_NORM, 128, 4096);
  private static final Contest BATCH = Contest.forward(Kernel.RMS_NORM, 8192, 4096);
  private static final Variant Q8_0 = Variant.to(QuantizedType.Q8_0);

  @Test
  void aLimitInCacheIsNotThatFromMemory() {
    assertThat(
            table(
                figure(PROMPT, KernelKind.AVX512, entry(Variant.NORM, 100), entry(Q8_0, 125)),
                figure(BATCH, KernelKind.AVX512, entry(Variant.NORM, 1000), entry(Q8_0, 910))))
        .startsWith("### Variants: A (B), 256-bit vectors\n\nMeasured on 2026-01-31, ")
        .contains(
            """
             Of 2 targets 1 are met.

            | AVX-512, one thread, mixed workload | 128 x 4096 | 8192 x 4096 |
            | --- | ---: | ---: |
            | RMSNorm float32: norm to q8_0 / norm | 1.25 (at most 1.25) | **0.91** (at most 0.9) |
            | RMSNorm float32: norm | 100 µs | 1000 µs |

            """)
        .doesNotContain("AVX2", "without flags");
  }

  @Test
  void twoCallsTakeAtLeastTheirTime() {
    Variant two = Variant.twoCalls(QuantizedType.Q8_0);
    assertThat(table(figure(PROMPT, KernelKind.AVX2, entry(two, 160), entry(Q8_0, 100))))
        .contains(
            """
            | AVX2, one thread, mixed workload | 128 x 4096 |
            | --- | ---: |
            | RMSNorm float32: norm, then q8_0 / norm to q8_0 | **1.60** (at least 1.7) |

            """);
  }

  @Test
  void javaLoopsHaveNoTargets() {
    Variant gated = Variant.gated(Gate.SILU);
    PeerResults results =
        results(figure(PROMPT, KernelKind.JAVA_LOOPS, entry(gated, 900), entry(Variant.NORM, 9)));
    assertThat(VariantTable.of(results))
        .contains("| RMSNorm float32: norm with gate silu / norm | 100.00 |");
    assertThat(new TargetTable(results).judged()).isZero();
  }

  @Test
  void otherNormsAndTypesHaveRowsOfTheirOwn() {
    Contest bfloat16 = PROMPT.with(ElementType.BFLOAT16);
    assertThat(
            table(
                figure(
                    bfloat16,
                    KernelKind.AVX2,
                    entry(Variant.WITHOUT_GAIN, 50),
                    entry(Variant.ROUNDED_ROOT, 50)),
                figure(
                    Contest.forward(Kernel.LAYER_NORM, 128, 4096),
                    KernelKind.AVX2,
                    entry(Variant.NORM, 100),
                    entry(Variant.MODULATED, 120))))
        .contains(
            """
            | RMSNorm bfloat16: rounded root / norm without gain | 1.00 (at most 1.0) |
            | LayerNorm float32: modulated norm / norm | 1.20 |
            | RMSNorm bfloat16: norm without gain | 50.0 µs |
            | LayerNorm float32: norm | 100 µs |
            """);
  }

  @Test
  void theJvmWithTheMiddleRatioCounts() {
    Figure slow = figure(PROMPT, KernelKind.AVX2, entry(Variant.NORM, 10), entry(Q8_0, 30));
    Figure fast = figure(PROMPT, KernelKind.AVX2, entry(Variant.NORM, 10), entry(Q8_0, 11));
    assertThat(table(slow, fast, fast)).contains("norm to q8_0 / norm | 1.10 (at most 1.25) |");
  }

  private static String table(Figure... figures) {
    return VariantTable.of(results(figures));
  }

  private static PeerResults results(Figure... figures) {
    return PeerTablesTest.results(List.of(figures), List.of(), List.of());
  }

  private record Timed(Variant variant, double micros) {}

  private static Timed entry(Variant variant, double micros) {
    return new Timed(variant, micros);
  }

  private static Figure figure(Contest contest, KernelKind kind, Timed... timed) {
    List<Entry> entries =
        List.of(timed).stream().map(t -> time(t.variant.system(kind), t.micros)).toList();
    return new Figure(contest, 1, true, entries);
  }
}
