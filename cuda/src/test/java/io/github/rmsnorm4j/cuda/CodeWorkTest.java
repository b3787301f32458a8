package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What threads do for the codes of an element, without the norm, is as kept. */
class CodeWorkTest {
  private static final String FILE = "code-work.txt";
  private static final int WIDTH = 4096;

  @Test
  void workIsAsKept() throws IOException {
    List<String> lines = new ArrayList<>();
    for (String name :
        List.of("int8:32", "int8:128", "int8:row", "f8e4m3:128", "f8e4m3:row", "f8e4m3:given")) {
      for (ElementType type : new ElementType[] {ElementType.FLOAT32, ElementType.BFLOAT16}) {
        lines.add(line(QuantizedType.ofName(name), type));
      }
    }
    String kept;
    try (var in = CodeWorkTest.class.getResourceAsStream(FILE)) {
      kept = in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    String now = String.join("\n", lines) + "\n";
    assertThat(now).as("%s should be\n%s", FILE, now).isEqualTo(kept);
  }

  private static String line(QuantizedType type, ElementType elements) {
    SplittableRandom random = new SplittableRandom(WIDTH);
    TestRows x = TestRows.of(elements, 1, WIDTH, 0, 0);
    x.draw(0, random, false);
    QuantizedBytes q =
        new QuantizedBytes(
            type,
            QuantizedCase.FORMATS.get(QuantizedCase.TYPES.indexOf(type)),
            1,
            WIDTH,
            true,
            random);
    DeviceRun device = new DeviceRun();
    CodeRule rule = new CodeRule(CodeFactor.RATIO, CodeRounding.EVEN, ScaleFloor.NONE);
    DeviceCodes codes = new DeviceCodes(q.on(device.memory), rule, elements);
    device.launch(List.of(codes.launch(device.rows("x", x, true))));
    return String.format(
        Locale.ROOT,
        "%s of %s: %.2f instructions for an element",
        type,
        elements,
        device.work.instructions() / (double) WIDTH);
  }
}
