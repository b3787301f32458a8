package io.github.rmsnorm4j.studies.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.ExplainBrowser;
import io.github.rmsnorm4j.cli.testing.PageBits;
import io.github.rmsnorm4j.report.browser.Browser;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page that explains RMSNorm says of naive code is what compare runs and counts. */
@Tag("browser")
class ExplainedFormTest {
  @AutoClose private static Browser browser;

  @BeforeAll
  static void open(@TempDir Path folder) throws IOException {
    browser = ExplainBrowser.open(folder);
  }

  @Test
  void theNaiveFloat16FormIsThatOfCompare() {
    for (int size = 1; size <= 1000; size += size < 240 || size > 260 ? 7 : 1) {
      double[] row = {size, -size, size / 2.0, 1};
      List<?> page =
          (List<?>)
              browser.run(
                  PageBits.SCRIPT
                      + """
                      const naive = arithmetic.naiveFloat16(numbers(arguments[0]), 1e-6);
                      return [naive.x, naive.squares, [naive.mean], naive.y].map(text);
                      """,
                  PageBits.text(row));
      NaiveForm.Steps steps = NaiveForm.float16Rms(PageBits.numbers(page.getFirst().toString()));
      assertThat(page.subList(1, 4))
          .as("%d", size)
          .isEqualTo(
              List.of(
                  PageBits.text(steps.squares()),
                  PageBits.text(steps.mean()),
                  PageBits.text(steps.y())));
    }
  }

  @Test
  void theBytesAreThoseThatCompareCounts() {
    Map<?, ?> bytes =
        (Map<?, ?>)
            browser.run(
                "return Object.fromEntries(FORMS.map((f) => [f, arithmetic.bytesPerElement(f, 4)]))");
    assertThat(bytes.get("rmsNaive")).isEqualTo(4L * NaiveForm.passes(true)).isEqualTo(28L);
    assertThat(bytes.get("layerNaive")).isEqualTo(4L * NaiveForm.passes(false));
    assertThat(bytes.get("rmsFused")).isEqualTo(8L).isEqualTo(bytes.get("layerFused"));
    // The addition reads two tensors and writes one; the norm reads that again and writes another.
    assertThat(bytes.get("addThenNorm")).isEqualTo(4L * (3 + 2));
    assertThat(bytes.get("addFused")).isEqualTo(4L * (2 + 2));
    assertThat(bytes).hasSize(6);
  }
}
