package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cuda.interpret.Work;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How many instructions kernels need for an element is kept in a file, so that a change shows. */
class WorkTest {
  private static final String FILE = "work.txt";

  @Test
  void workIsAsKept() throws IOException {
    List<String> lines = new ArrayList<>();
    for (NormSpec spec : List.of(NormSpec.RMSNORM, NormSpec.LAYERNORM, NormSpec.LLAMA)) {
      for (ElementType type : ElementType.values()) {
        for (int width : new int[] {128, 1024, 4096, 16384}) {
          lines.add(line(spec, type, width));
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

  private static String line(NormSpec spec, ElementType type, int width) {
    PlainForward call = PlainForward.of(spec, type, Math.max(1, 4096 / width), width);
    Work work = call.work();
    long float64 = 0;
    long memory = 0;
    for (Map.Entry<String, Long> count : work.byOperation().entrySet()) {
      String name = count.getKey();
      boolean global = name.startsWith("ld.global") || name.startsWith("st.global");
      boolean arithmetic = name.contains("f64") && !name.matches("(ld|st|mov|setp|selp).*");
      memory += global ? count.getValue() : 0;
      float64 += arithmetic ? count.getValue() : 0;
    }
    double n = call.elements();
    return String.format(
        Locale.ROOT,
        "%s %s %d: %.2f instructions for an element, %.2f of them float64, %.2f of memory",
        spec,
        type,
        width,
        work.instructions() / n,
        float64 / n,
        memory / n);
  }
}
