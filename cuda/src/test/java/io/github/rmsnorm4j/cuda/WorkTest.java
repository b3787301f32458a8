package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cuda.interpret.Traffic;
import io.github.rmsnorm4j.cuda.interpret.Work;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * What kernels do for an element, and what they ask of memory, is kept in a file, so that a change
 * shows.
 */
class WorkTest {
  private static final String FILE = "work.txt";

  @Test
  void workIsAsKept() throws IOException {
    List<String> lines = new ArrayList<>();
    for (NormSpec spec : List.of(NormSpec.RMSNORM, NormSpec.LAYERNORM, NormSpec.LLAMA)) {
      for (ElementType type : ElementType.values()) {
        for (int width : new int[] {128, 512, 1024, 4096, 16384}) {
          PlainForward call = PlainForward.of(spec, type, Math.max(1, 4096 / width), width);
          lines.add(line(call, call.elements(), call.work()));
        }
      }
    }
    for (NormSpec spec : List.of(NormSpec.RMSNORM, NormSpec.LAYERNORM)) {
      for (ElementType type : ElementType.values()) {
        for (int width : new int[] {256, 4096}) {
          lines.add(backward(spec, type, Keep.INPUT, false, width));
          lines.add(backward(spec, type, Keep.INPUT, true, width));
          lines.add(backward(spec, type, Keep.NOTHING, false, width));
        }
      }
    }
    String kept;
    try (var in = WorkTest.class.getResourceAsStream(FILE)) {
      kept = in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    String now = String.join("\n", lines) + "\n";
    assertThat(now).as("%s should be\n%s", FILE, now).isEqualTo(kept);
  }

  private static String backward(
      NormSpec spec, ElementType type, Keep keep, boolean sums, int width) {
    int rows = sums ? SumOrder.ROWS : Math.max(1, 4096 / width);
    PlainBackward call = new PlainBackward(spec, type, keep, sums, rows, width);
    return line(call, call.elements(), call.work());
  }

  /** Instructions and bytes of an element; turns of shared memory of 32 elements. */
  private static String line(Object call, double elements, Work work) {
    long float64 = 0;
    for (Map.Entry<String, Long> count : work.byOperation().entrySet()) {
      String name = count.getKey();
      boolean arithmetic = name.contains("f64") && !name.matches("(ld|st|mov|setp|selp).*");
      float64 += arithmetic ? count.getValue() : 0;
    }
    Traffic traffic = work.traffic();
    return String.format(
        Locale.ROOT,
        "%s: %.2f instructions, %.2f float64;"
            + " %.2f bytes read, %.2f written, in sectors of %.2f;"
            + " %.2f turns of shared memory, %.2f of them for conflicts",
        call,
        work.instructions() / elements,
        float64 / elements,
        traffic.bytesRead() / elements,
        traffic.bytesWritten() / elements,
        traffic.sectorBytes() / elements,
        SumOrder.LANES * traffic.turns() / elements,
        SumOrder.LANES * traffic.conflicts() / elements);
  }
}
