package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.cli.Rmsnorm;
import io.github.rmsnorm4j.cli.testing.ChildJvm;
import io.github.rmsnorm4j.cli.testing.TestJson;
import io.github.rmsnorm4j.report.browser.Browser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code rmsnorm compare --quick} from end to end, once, in a process of its own. */
@Tag("long")
class CompareTest {
  private static final int VARIANTS = 4;

  /** Of a table of figures, and its title. */
  private static final int COLUMNS = 11;

  @TempDir private static Path folder;
  private static Path page;
  private static String out;
  private static String err;
  private static Map<?, ?> json;

  @BeforeAll
  static void compare() throws IOException, InterruptedException {
    page = folder.resolve("a page.html");
    Path data = folder.resolve("data.json");
    Path output = folder.resolve("out.txt");
    Path errors = folder.resolve("err.txt");
    List<String> command =
        ChildJvm.command(
            Rmsnorm.class, List.of(), "compare", "--quick", "--report", page, "--json", data);
    int status =
        new ProcessBuilder(command)
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile())
            .start()
            .waitFor();
    out = Files.readString(output);
    err = Files.readString(errors);
    assertThat(status).as(err).isZero();
    json = TestJson.read(data);
  }

  private static List<Map<String, Object>> rows() {
    return TestJson.get(json, "rows");
  }

  private static List<String> sentences() {
    Map<String, List<String>> verdicts = TestJson.get(json, "verdicts");
    return verdicts.values().stream().flatMap(List::stream).toList();
  }

  @Test
  void theTableAndTheSentencesArePrinted() {
    assertThat(out.lines()).allMatch(line -> line.length() <= 80);
    String joined = out.replaceAll("\\s+", " ");
    assertThat(sentences()).hasSizeGreaterThan(8).allMatch(joined::contains);
    assertThat(err).contains("time: forward, float32, 128 x 4096").doesNotContain("rmsnorm:");
  }

  @Test
  void whatItTakesToRepeatItIsThere() {
    String command = TestJson.get(json, "results.run.command");
    assertThat(command)
        .startsWith("./rmsnorm compare --quick --report")
        .contains("a page.html'")
        .endsWith("data.json");
    assertThat(TestJson.<String>get(json, "results.run.machine.java"))
        .contains(System.getProperty("java.vm.name"));
    assertThat(TestJson.<String>get(json, "results.run.version")).startsWith("rmsnorm ");
    assertThat(TestJson.<List<?>>get(json, "results.timings")).hasSize(5);
  }

  @Tag("measure")
  @Test
  void aFusedNormTakesTwoTensorsAndANaiveOneThree() {
    assumeThat(Path.of("/proc/self/status")).isReadable(); // No other system tells.
    List<Map<String, Object>> uses = TestJson.get(json, "results.memory");
    assertThat(uses).hasSize(VARIANTS);
    double tensor = 4.0 * 8 * 1024 * 4096;
    for (Map<String, Object> use : uses) {
      double tensors = (double) use.get("bytes") / tensor;
      boolean fused = use.get("variant").toString().endsWith("fused");
      assertThat(tensors).as(use.toString()).isBetween(fused ? 1.9 : 2.9, fused ? 2.6 : 3.6);
    }
  }

  /** Each figure of the page is the JSON's, to the digits that the page shows. */
  @Tag("browser")
  @Test
  void thePagesFiguresAreTheJsonsAndItLoadsInABrowser() throws IOException {
    try (Browser browser = Browser.start(folder.resolve("profile"))) {
      ReportInBrowser.open(browser, page);
      assertThat(browser.run("return document.querySelectorAll('canvas').length")).isEqualTo(3L);
      assertThat(sentences())
          .allMatch(browser.run("return document.body.textContent").toString()::contains);
      assertSameFigures(cells(browser));
    }
  }

  private static List<String> cells(Browser browser) {
    Object cells =
        browser.run(
            """
            return [...document.querySelectorAll("table")]
              .filter((t) => t.textContent.includes("bytes an element"))
              .flatMap((t) => [...t.querySelectorAll("tbody tr")].slice(0, -1).map(
                  (r) => [t.caption, ...r.children].map((c) => c.textContent).join("|")))
            """);
    return ((List<?>) cells).stream().map(Object::toString).toList();
  }

  private static void assertSameFigures(List<String> shown) {
    assertThat(shown).hasSize(rows().size());
    for (int i = 0; i < shown.size(); i++) {
      Map<String, Object> row = rows().get(i);
      String[] cells = shown.get(i).split("\\|");
      boolean memory = !row.get("memoryBytes").equals(Double.NaN);
      assertThat(cells).hasSize(memory ? COLUMNS : COLUMNS - 1);
      assertThat(cells[0])
          .startsWith(
              String.join(", ", text(row, "pass"), text(row, "type"), text(row, "shape") + " ("));
      assertThat(cells[1]).isEqualTo(text(row, "variant"));
      assertNear(seconds(cells[2]), number(row, "medianNanos") / 1e9);
      String[] spread = cells[3].split(" ");
      assertNear(seconds(spread[2] + " " + spread[3]), number(row, "highestNanos") / 1e9);
      assertThat(Double.parseDouble(cells[4])).isEqualTo(number(row, "bytesPerElement"));
      assertRounded(Double.parseDouble(cells[5]), number(row, "bytesPerSecond") / 1e9);
      assertRounded(Double.parseDouble(cells[6]), number(row, "timesCopy"));
      assertRounded(Double.parseDouble(cells[7]), number(row, "operationsPerByte"));
      if (memory) {
        assertNear(
            Double.parseDouble(cells[8].replace(" MiB", "")), number(row, "memoryBytes") / 0x1p20);
      }
      assertThat(Double.parseDouble(cells[cells.length - 2].replace(",", "")))
          .isEqualTo(number(row, "parameters"));
      assertThat(cells[cells.length - 1])
          .isEqualTo(String.format(Locale.ROOT, "%.0e", number(row, "error")));
    }
  }

  private static double number(Map<String, Object> row, String name) {
    return (double) row.get(name);
  }

  private static String text(Map<String, Object> row, String name) {
    return row.get(name).toString();
  }

  private static double seconds(String time) {
    String[] parts = time.split(" ");
    double unit =
        switch (parts[1]) {
          case "ns" -> 1e-9;
          case "µs" -> 1e-6;
          case "ms" -> 1e-3;
          default -> 1;
        };
    return Double.parseDouble(parts[0]) * unit;
  }

  /** Three digits are shown. */
  private static void assertNear(double shown, double is) {
    assertThat(shown).isCloseTo(is, Offset.offset(0.01 * is));
  }

  /** Three digits, but no more than two behind the point. */
  private static void assertRounded(double shown, double is) {
    assertThat(shown).isCloseTo(is, Offset.offset(Math.max(0.01 * is, 0.0051)));
  }
}
