package io.github.rmsnorm4j.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LONG;

import io.github.rmsnorm4j.report.browser.Browser;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pages as a browser shows them. */
@Tag("browser") // For .ci/run --without-browser.
class PageInBrowserTest {
  private static final String COLOURS =
      """
      const canvas = arguments[0], wanted = arguments[1];
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3] === 255) {
          seen.add("#" + [0, 1, 2].map((c) => data[i + c].toString(16).padStart(2, "0")).join(""));
        }
      }
      return wanted.filter((colour) => seen.has(colour));
      """;

  /** From left to right, above a point of the first line. */
  private static final String COLOURS_AT =
      """
      const plot = Chart.getChart("chart-1"), ratio = plot.currentDevicePixelRatio;
      const { x } = plot.getDatasetMeta(0).data[arguments[0]], y = plot.scales.y.getPixelForValue(2.6);
      const at = [x - 10, y, 20, 1].map((value) => Math.round(value * ratio));
      const { data } = plot.ctx.getImageData(...at);
      let seen = "";
      for (let i = 0; i < data.length; i += 4) {
        const redder = data[i + 3] > 60 ? data[i] - data[i + 2] : 0;
        const colour = redder > 60 ? "orange " : redder < -60 ? "blue " : "";
        seen += seen.endsWith(colour) ? "" : colour;
      }
      return seen;
      """;

  @TempDir private static Path folder;
  private static Browser browser;

  @BeforeAll
  static void start() throws IOException {
    browser = Browser.start(folder.resolve("profile"));
  }

  @AfterAll
  static void stop() {
    if (browser != null) {
      browser.close();
    }
  }

  private static Path open(Page page, int width, boolean dark) throws IOException {
    Path file = folder.resolve("a page é.html");
    page.write(file);
    browser.show(width, 900, dark);
    browser.open(file);
    return file;
  }

  @ParameterizedTest
  @CsvSource({
    "1280, false, #0072b2 #d55e00 #00805d #aa4499, #59636e",
    "1280, true, #56b4e9 #ff9248 #2fc99a #e08cc8, #9da7b1",
    "390, false, #0072b2 #d55e00 #00805d #aa4499, #59636e",
    "390, true, #56b4e9 #ff9248 #2fc99a #e08cc8, #9da7b1"
  })
  void aPageLoadsWithoutAWordAndDrawsItsCharts(
      int width, boolean dark, String colours, String quiet) throws IOException {
    Path file = open(ExamplePage.page(), width, dark);
    assertThat(browser.console()).isEmpty();
    assertThat(browser.requests()).containsExactly(file.toUri().toString());

    List<String> palette = List.of(colours.split(" "));
    assertDraws("chart-1", List.of(palette.get(0), palette.get(1), palette.get(2), quiet));
    assertDraws("chart-2", palette);
    assertDraws("chart-3", List.of(palette.get(0), palette.get(1), quiet));
    assertDraws("chart-4", palette.subList(0, 2));
    assertThat(browser.run("return document.querySelectorAll('canvas').length")).isEqualTo(4L);
    assertThat(browser.run("return document.querySelectorAll('figure details table').length"))
        .isEqualTo(4L);
    assertThat(browser.run("return document.querySelectorAll('main > .table tbody tr').length"))
        .isEqualTo(4L);
    assertThat(browser.run("return document.documentElement.scrollWidth"))
        .isEqualTo(browser.run("return document.documentElement.clientWidth"))
        .asInstanceOf(LONG)
        .isBetween(width - 20L, (long) width);
    assertThat(browser.run("return getComputedStyle(document.body).backgroundColor"))
        .isEqualTo(dark ? "rgb(20, 23, 27)" : "rgb(255, 255, 255)");
  }

  private static void assertDraws(String id, List<String> colours) {
    Object canvas = browser.run("return document.getElementById(arguments[0])", id);
    assertThat(browser.run("return arguments[0].clientWidth", canvas))
        .asInstanceOf(LONG)
        .isGreaterThan(300);
    assertThat(browser.run("return arguments[0].clientHeight", canvas))
        .asInstanceOf(LONG)
        .isGreaterThan(300);
    assertThat(browser.run(COLOURS, canvas, colours)).as(id).isEqualTo(colours);
  }

  @Test
  void theColoursFollowThePreference() throws IOException, InterruptedException {
    open(ExamplePage.page(), 1280, false);
    List<String> bright = List.of("#56b4e9", "#ff9248");
    browser.show(1280, 900, true);
    Object canvas = browser.run("return document.getElementById('chart-4')");
    while (!browser
        .run(COLOURS, canvas, bright)
        .equals(bright)) { // The page is told a little later.
      Thread.sleep(20);
    }
    assertDraws("chart-4", bright);
  }

  @Test
  void hostileTextsStayTexts() throws IOException {
    Path file = open(ExamplePage.hostile(), 390, false);
    assertThat(browser.console()).isEmpty();
    assertThat(browser.requests()).containsExactly(file.toUri().toString());
    assertDraws("chart-1", List.of("#0072b2"));
    String shown =
        ExamplePage.HOSTILE.replaceAll("[\u2028\u2029]", "\n").replace('\u0000', '\uFFFD');
    assertThat(
            browser.run(
                """
                return [...document.querySelectorAll("main *")]
                  .filter((e) => e.textContent === arguments[0] && e.children.length === 0)
                  .map((e) => e.tagName.toLowerCase()).join(" ")
                """,
                shown))
        .isEqualTo(
            "h1 p strong span h2 p li pre h3 figcaption caption th th td caption th td summary p");
    assertThat(browser.run("return document.querySelectorAll('img').length")).isEqualTo(0L);
    assertThat(browser.run("return document.querySelectorAll('script').length")).isEqualTo(3L);
    assertThat(
            browser.run(
                "return Chart.getChart('chart-1').data.datasets[0].label === [...arguments[0]].slice(0, 39).join('') + '…'",
                ExamplePage.HOSTILE))
        .isEqualTo(true);
    assertThat(browser.run("return document.documentElement.scrollWidth")).isEqualTo(390L);
  }

  @Test
  void thePolicyStopsWhatTheseTestsLookFor() throws IOException, InterruptedException {
    open(ExamplePage.page(), 1280, false);
    browser.run(
        """
        const image = document.body.appendChild(document.createElement("img"));
        image.src = "http://127.0.0.1:9/x.png";
        const script = document.body.appendChild(document.createElement("script"));
        script.textContent = "document.title = 'taken'";
        """);
    List<String> said = new ArrayList<>();
    while (said.size() < 2) {
      Thread.sleep(20);
      said.addAll(browser.console());
    }
    assertThat(said).hasSize(2).allMatch(message -> message.contains("Content Security Policy"));
    assertThat(browser.run("return document.title")).isEqualTo("Two norms on one machine");
    // Wanted, and seen.
    while (!browser.requests().contains("http://127.0.0.1:9/x.png")) {
      Thread.sleep(20);
    }
  }

  /** Two lines through the same points, with the same spreads. */
  @Test
  void theWhiskersOfLinesStandSideBySide() throws IOException {
    double[] x = {0, 1, 2};
    double[] low = {1, 1, 1};
    double[] mean = {2, 2, 2};
    double[] high = {3, 3, 3};
    Chart chart =
        Chart.titled("Twice")
            .with(Series.line("a", x, mean).spread(low, high))
            .with(Series.line("b", x, mean).spread(low, high));
    open(Page.titled("p").chart(chart), 1280, false);
    for (int point = 0; point < 3; point++) {
      assertThat(browser.run(COLOURS_AT, point)).as("point %d", point).isEqualTo("blue orange ");
    }
  }

  /** A telephone has no room for many names beside the lines. */
  @Test
  void aChartWithManyNamesIsHigherOnATelephone() throws IOException {
    Chart chart = Chart.titled("Many");
    for (int i = 0; i < 6; i++) {
      double[] values = {i, i + 1};
      chart = chart.with(Series.line("post_feedforward_layernorm_" + i, values, values));
    }
    open(Page.titled("p").chart(chart), 390, false);
    assertThat(browser.run("return Math.round(Chart.getChart('chart-1').chartArea.height)"))
        .asInstanceOf(LONG)
        .isGreaterThan(200);
  }

  @Test
  void anEmptyChartIsNoError() throws IOException {
    open(Page.titled("Nothing").chart(ExamplePage.empty()), 390, false);
    assertThat(browser.console()).isEmpty();
  }
}
