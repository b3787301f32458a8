package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** docs/troubleshooting.md: its errors are those of calls, and an epsilon has the stated effect. */
class TroubleshootingPageTest {
  private static final Pattern MESSAGE = Pattern.compile("(?m)^\\* `([^`]*)`: ");

  /** In the order of the page. */
  @Test
  void theErrorsAreThoseOfCalls() throws IOException {
    RmsNorm norm = RmsNorm.builder(4096).build();
    float[] x = new float[4096];
    MemorySegment two = MemorySegment.ofArray(new float[8192]);
    Rows first = Rows.of(two, ElementType.FLOAT32, 1, 4096);
    Rows later = Rows.of(two.asSlice(4), ElementType.FLOAT32, 1, 4096);
    Saved saved = new Saved(Keep.INPUT, 1);
    ParameterGradients gradients = ParameterGradients.assigned(new float[4096], null);
    Arena closed = Arena.ofShared();
    Rows gone = Rows.of(closed.allocate(4L * 4096), ElementType.FLOAT32, 1, 4096);
    closed.close();
    try (Arena here = Arena.ofConfined()) {
      Rows confined = Rows.of(here.allocate(4L * 4096), ElementType.FLOAT32, 1, 4096);
      List<ThrowingCallable> calls =
          List.of(
              () -> RmsNorm.builder(4096).gain(new float[4095]).build().apply(x, x),
              () -> norm.apply(x, new float[8192]),
              () -> norm.apply(first, later),
              () -> norm.addAndApply(first, first, Rows.of(x, 4096)),
              () -> norm.backward(first, saved, first, gradients),
              () -> norm.apply(gone, gone),
              () ->
                  CompletableFuture.runAsync(() -> norm.apply(confined, confined))
                      .orTimeout(1, TimeUnit.MINUTES)
                      .join());
      String page = page();
      String errors =
          page.substring(page.indexOf("## Errors of a call"), page.indexOf("Of the JVM"));
      List<String> texts =
          MESSAGE.matcher(errors).results().map(message -> message.group(1)).toList();
      assertThat(texts).hasSameSizeAs(calls);
      for (int i = 0; i < calls.size(); i++) {
        assertThatThrownBy(calls.get(i)).hasMessageContaining(texts.get(i));
      }
    }
  }

  /** A row of equal elements, so that their square is its mean of squares. */
  @ParameterizedTest
  @CsvSource({"1, 4.5e-6, 0.05e-6", "0.01, 0.04e-2, 0.005e-2", "0.0001, 4.4e-2, 0.05e-2"})
  void theErrorsOfAWrongEpsilon(double meanSquare, double error, double rounding) {
    double[] x = {Math.sqrt(meanSquare)};
    double[] wrong = new double[1];
    double[] right = new double[1];
    Rows row = Rows.of(x, 1);
    RmsNorm.builder(1).epsilon(1e-6).build().apply(row, Rows.of(wrong, 1));
    RmsNorm.builder(1).epsilon(1e-5).build().apply(row, Rows.of(right, 1));
    assertThat(wrong[0] / right[0] - 1).isCloseTo(error, within(rounding));
  }

  private static String page() throws IOException {
    return Files.readString(Shell.CHECKOUT.resolve("docs/troubleshooting.md"));
  }
}
