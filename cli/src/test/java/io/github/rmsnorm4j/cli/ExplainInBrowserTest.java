package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cli.ExplainPage.Language;
import io.github.rmsnorm4j.cli.testing.CommandResult;
import io.github.rmsnorm4j.report.browser.Browser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The page that explains RMSNorm as a browser shows it, and as a reader uses it. */
@Tag("browser")
class ExplainInBrowserTest {
  /** Texts whose contrast with what is behind them is below 4.5. */
  private static final String FAINT =
      """
      const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
      const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
        .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
      const behind = (e) => {
        const colour = channels(getComputedStyle(e).backgroundColor);
        return colour.length === 4 && colour[3] === 0 ? behind(e.parentElement) : colour;
      };
      const contrast = (e) => {
        const style = getComputedStyle(e);
        const ink = e instanceof SVGElement ? style.fill : style.color;
        const [a, b] = [light(channels(ink)), light(behind(e))].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
      };
      return [...document.querySelectorAll("main *")]
        .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== ""))
        .filter((e) => !e.disabled && !["SCRIPT", "NOSCRIPT"].includes(e.tagName))
        .filter((e) => contrast(e) < 4.5)
        .map((e) => `${e.tagName} ${e.className.baseVal ?? e.className} ${e.textContent.slice(0, 30)}`);
      """;

  /** Controls without a name. */
  private static final String NAMELESS =
      """
      return [...document.querySelectorAll("input, select, button, [role=slider], [role=img]")]
        .filter((e) => !(e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent).trim())
        .map((e) => e.outerHTML);
      """;

  @TempDir private static Path folder;
  private static Browser browser;
  private static Path page;

  @BeforeAll
  static void start() throws IOException {
    browser = Browser.start(folder.resolve("profile"));
    page = folder.resolve("page.html");
    assertThat(CommandResult.of("explain", "-o", page.toString()).status()).isZero();
  }

  @AfterAll
  static void stop() {
    if (browser != null) {
      browser.close();
    }
  }

  @BeforeEach
  void open() {
    browser.speak("en");
    browser.show(1280, 900, false);
    browser.open(page);
  }

  @ParameterizedTest
  @CsvSource({
    "en, 1280, false", "en, 390, true", "ko, 1280, true", "ko, 390, false",
    "zh, 1280, true", "zh, 390, false", "ja, 1280, false", "ja, 390, true"
  })
  void everyLanguageFitsEveryWidth(Language language, int width, boolean dark) {
    browser.show(width, 900, dark);
    browser.open(page);
    choose("language", language.name());
    assertThat(browser.run("return document.title"))
        .isEqualTo(ExplainPage.texts(language).get("title"));
    assertThat(browser.run("return document.documentElement.lang")).isEqualTo(language.name());
    assertThat(browser.run("return document.querySelector('#why h2').textContent"))
        .isEqualTo(ExplainPage.texts(language).get("why.title"));
    assertThat(browser.run("return document.documentElement.scrollWidth"))
        .isEqualTo(browser.run("return document.documentElement.clientWidth"));
    assertThat((List<?>) browser.run(FAINT)).isEmpty();
    assertThat((List<?>) browser.run(NAMELESS)).isEmpty();
    assertThat(browser.run("return document.body.innerText").toString())
        .doesNotContain("undefined", "NaN", "**", "`", "{");
    assertThat(browser.console()).isEmpty();
    assertThat(browser.requests()).containsExactly(page.toUri().toString());
  }

  @Test
  void theLanguageOfTheCommandIsShown() throws IOException {
    Path japanese = folder.resolve("ja.html");
    Files.deleteIfExists(japanese);
    CommandResult.of("explain", "-o", japanese.toString(), "--language", "ja");
    browser.open(japanese);
    assertThat(browser.run("return document.querySelector('h1').textContent"))
        .isEqualTo(ExplainPage.texts(Language.ja).get("title"));
    assertThat(browser.run("return document.getElementById('language').value")).isEqualTo("ja");
  }

  @ParameterizedTest
  @CsvSource({
    "'ko-KR,ko', '', ko",
    "'fr,zh-CN', '', zh",
    "'fr', '', en",
    "'ko', '#language=ja', ja",
    "'ja', '#language=constructor', ja",
    "'ja', '#language=', ja"
  })
  void theLanguageIsThatOfTheAddressOrOfTheBrowser(
      String languages, String hash, Language language) {
    browser.speak(languages);
    browser.open(page, hash);
    assertThat(browser.run("return document.documentElement.lang")).isEqualTo(language.name());
    assertThat(browser.run("return document.getElementById('language').value"))
        .isEqualTo(language.name());
    assertThat(browser.console()).isEmpty();
  }

  /** A reload shows what the reader chose, and so does the address in another browser. */
  @Test
  void rowAndLanguageAreInTheAddress() {
    assertThat(hash()).isEmpty();
    choose("language", "zh");
    type("row-inputs", 3, "-7.25");
    type("row-inputs", 0, "1e-6");
    assertThat(hash()).isEqualTo("#language=zh&row=1e-6,2,3,-7.25");
    browser.open(page, "#gain&language=zh&row=1e-6,2,3,-7.25");
    assertThat(row()).isEqualTo(List.of((double) 1e-6f, 2.0, 3.0, -7.25));
    assertThat(text("h1")).isEqualTo(ExplainPage.texts(Language.zh).get("title"));
    assertThat(hash()).isEqualTo("#gain&language=zh&row=1e-6,2,3,-7.25");
    assertThat((Boolean) browser.run("return window.scrollY > 1000")).isTrue();
    browser.run("document.querySelector('nav a[href=\"#bytes\"]').click()");
    assertThat(
            browser.run("return document.querySelector('#bytes').getBoundingClientRect().top < 50"))
        .isEqualTo(true);
    browser.run("window.dispatchEvent(new Event('hashchange'))");
    assertThat(hash()).isEqualTo("#bytes&language=zh&row=1e-6,2,3,-7.25");
    assertThat(browser.console()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "#row=",
        "#row=1,,2",
        "#row=1,x",
        "#row=1e39",
        "#row=1,2,3,4,5,6,7,8,9",
        "#row=NaN",
        "#%E0%A4",
        "#none"
      })
  void anAddressWithoutARowLeavesTheFirstOne(String hash) {
    browser.open(page, hash);
    assertThat(row()).containsExactly(1.0, 2.0, 3.0, 4.0);
    assertThat(steps("rms")).hasSize(7);
    assertThat(browser.console()).isEmpty();
  }

  private static String hash() {
    return browser.run("return location.hash").toString();
  }

  /** With a gain of fewer bits T5's order rounds more than the others. */
  @Test
  void whatDiffersByMoreThanTheLastBitIsCounted() {
    set("#type", "float16");
    set("#gain-type", "bfloat16");
    assertThat(text("#orders-reading")).contains("T5 87.0\u00a0% (61.0\u00a0%)");
    // As the places of bfloat16 numbers, which are the upper halves of float32 numbers.
    assertThat(
            browser.run(
                """
                const place = (value) => new Int32Array(new Float32Array([value]).buffer)[0] >> 16;
                return ["bfloat16", "float16", "float32"].every((gainType) => {
                  const { y, farther } = castOrders(1, "bfloat16", gainType);
                  return y.every((row, order) => farther[order] ===
                    row.filter((value, i) => Math.abs(place(value) - place(y[0][i])) > 1).length);
                });
                """))
        .isEqualTo(true);
  }

  @Test
  void theStepsShowTheLibrarysNumbers() {
    assertThat(steps("rms"))
        .containsExactly(
            "left out", "left out", "1 4 9 16", "7.5", "2.7386", "0.3651", shown(rms(1, 2, 3, 4)));
    assertThat(steps("layer"))
        .containsExactly(
            "2.5",
            "−1.5 −0.5 0.5 1.5",
            "2.25 0.25 0.25 2.25",
            "1.25",
            "1.118",
            "0.8944",
            shown(layer(1, 2, 3, 4)));
  }

  @Test
  void aNumberThatIsTypedIsFollowedByEveryStep() {
    type("row-inputs", 3, "-7.25");
    assertThat(steps("rms").getLast()).isEqualTo(shown(rms(1, 2, 3, -7.25f)));
    assertThat(steps("layer").getLast()).isEqualTo(shown(layer(1, 2, 3, -7.25f)));
    for (String none : List.of("", "1e39")) {
      type("row-inputs", 3, none);
      assertThat(steps("rms").getLast()).as(none).isEqualTo(shown(rms(1, 2, 3, -7.25f)));
    }
    type("row-inputs", 3, "1e30");
    assertThat(steps("rms").getLast()).isEqualTo(shown(rms(1, 2, 3, 1e30f)));
    assertThat(browser.console()).isEmpty();
  }

  @Test
  void barsAreMovedByKeysAndByDragging() {
    assertThat(row()).containsExactly(1.0, 2.0, 3.0, 4.0);
    browser.press("#row-editor .handle", "ArrowUp");
    List<Double> pressed = row();
    assertThat(pressed.getFirst()).isGreaterThan(1);
    assertThat(pressed.subList(1, 4)).containsExactly(2.0, 3.0, 4.0);
    browser.drag("#row-editor .handle", 0, 150);
    assertThat(row().getFirst()).isLessThan(0);
    assertThat(row().subList(1, 4)).containsExactly(2.0, 3.0, 4.0);
    assertThat(steps("rms").getLast()).isEqualTo(shown(rms(row())));
    assertThat(browser.console()).isEmpty();
  }

  @Test
  void aShiftMovesRmsNormAloneAndAScaleNeither() {
    click("#moves-examples button:nth-child(1)");
    assertThat(verdicts()).containsExactly("moved", "stays");
    click("#moves-examples button:nth-child(2)");
    assertThat(verdicts()).containsExactly("stays", "stays");
    click("#moves-examples button:nth-child(3)");
    assertThat(verdicts()).containsExactly("moved", "moved");
    choose("epsilon", "0");
    assertThat(verdicts()).containsExactly("stays", "stays");
  }

  /** Changes are judged by the size of the output, and what float32 cannot hold is told apart. */
  @ParameterizedTest
  @CsvSource({
    "1000, 1, Moves a little., Stays.",
    "0.000001, 0.000001, Moves., 'Stays, apart from the rounding of the moved row to float32.'"
  })
  void aShiftIsJudgedByTheSizeOfTheOutput(double first, double step, String rms, String layer) {
    row(first, step);
    click("#moves-examples button:nth-child(1)");
    assertThat(text("#moved-rms-reading strong")).isEqualTo(rms);
    assertThat(text("#moved-layer-reading strong")).isEqualTo(layer);
  }

  @Test
  void tinyNumbersAreShownAsTheyAre() {
    row(1e-6, 1e-6);
    assertThat(browser.run("return document.querySelector('#row-inputs input').value"))
        .isEqualTo("1e-6");
    click("#moves-examples button:nth-child(3)");
    assertThat(text("#moved-reading")).isEqualTo("RMS 2.7386e−9, mean 2.5e−9");
    assertThat(steps("rms").get(2)).isEqualTo("1e−12 4e−12 9e−12 1.6e−11");
  }

  /** Of 40000 to 40003, whose variance is 1.25. */
  @Test
  void aShareNearOneIsNotRounded() {
    click("#examples button:nth-child(5)");
    assertThat(text("#rho")).contains("ρ = 1 − 7.8119e−10.", "89.9984°");
  }

  @Test
  void aRefusedEntryIsSaid() {
    for (String none : List.of("", "1e39")) {
      type("row-inputs", 1, none);
      browser.run(
          "document.querySelector('#row-inputs input:nth-of-type(2)').dispatchEvent(new Event('change'))");
      assertThat(text("#row-inputs + .refused"))
          .isEqualTo(ExplainPage.texts(Language.en).get("input.refused"));
      type("row-inputs", 1, "5");
      assertThat(text("#row-inputs + .refused")).isEmpty();
    }
  }

  /** Sets the row to four numbers at equal distances. */
  private static void row(double first, double step) {
    for (int i = 0; i < 4; i++) {
      type("row-inputs", i, String.valueOf(first + i * step));
    }
    browser.run("document.activeElement.blur()");
  }

  @Test
  void everyExampleIsComputedWithoutAWord() {
    for (int i = 1; i <= 6; i++) {
      click("#examples button:nth-child(" + i + ")");
      assertThat(steps("rms").getLast()).as("example %d", i).isEqualTo(shown(rms(row())));
      assertThat(steps("layer").getLast()).as("example %d", i).isEqualTo(shown(layer(row())));
    }
    for (int i = 0; i < 10; i++) {
      click("#add");
    }
    assertThat(row()).hasSize(8);
    for (int i = 0; i < 10; i++) {
      click("#remove");
    }
    assertThat(row()).hasSize(1);
    assertThat(browser.console()).isEmpty();
  }

  @Test
  void gainAndBiasAreAppliedAsInTheLibrary() {
    type("gain-inputs", 0, "-3");
    type("bias-inputs", 1, "0.75");
    float[] gain = {-3, 0.5f, 2, 1};
    float[] bias = {0, 0.75f, 0, 0.5f};
    float[] x = {1, 2, 3, 4};
    Norm rms = RmsNorm.builder(4).gain(gain).backend(Backend.scalar()).build();
    Norm layer =
        LayerNorm.builder(4).epsilon(1e-6).gain(gain).bias(bias).backend(Backend.scalar()).build();
    assertThat(bars("#gain-rms")).isEqualTo(twoDecimals(apply(rms, x)));
    assertThat(bars("#gain-layer")).isEqualTo(twoDecimals(apply(layer, x)));
  }

  private static List<String> bars(String svg) {
    Object texts =
        browser.run(
            "return [...document.querySelectorAll(`${arguments[0]} text`)].map((e) => e.textContent)",
            svg);
    return ((List<?>) texts).stream().map(Object::toString).toList();
  }

  private static List<String> twoDecimals(float[] values) {
    List<String> texts = new ArrayList<>();
    for (float value : values) {
      texts.add(String.format(Locale.ROOT, "%.2f", value).replace('-', '−'));
    }
    return texts;
  }

  @Test
  void onlyTheTokenThatIsChangedChanges() {
    type("block-inputs", 6, "3");
    assertThat(
            browser.run(
                """
                return [...document.querySelectorAll("#block-outputs .value")]
                  .map((e) => e.classList.contains("changed") ? "x" : ".").join("")
                """))
        .isEqualTo("....xxxx........");
    Object second =
        browser.run(
            """
            return [...document.querySelectorAll("#block-outputs .value")]
              .slice(4, 8).map((e) => e.textContent).join(" ")
            """);
    assertThat(second).isEqualTo(shown(rms(30, 10, 3, 40)));
    assertThat(text("#block-reading"))
        .isEqualTo("Changed: token 2. The other 3 tokens keep every bit.");
  }

  @Test
  void theBarsOfBytesAddUp() {
    Object widths =
        browser.run(
            """
            return [...document.querySelectorAll("#traffic svg")].map((svg) => svg.children.length)
            """);
    assertThat(widths).isEqualTo(List.of(7L, 2L, 12L, 2L, 5L, 4L));
    assertThat(text("#traffic-reading")).contains("939.5 MB", "268.4 MB", "3.5");
    assertThat(text("#traffic .total")).startsWith("28 bytes an element");
  }

  @Test
  void float16OverflowsFrom256On() {
    slide("size", 255);
    assertThat(text("#overflow-reading")).startsWith("255² = 65025 fits");
    slide("size", 256);
    assertThat(text("#overflow-reading")).startsWith("256² = 65536 does not fit");
    assertThat(text("#overflow tbody tr:last-child td:nth-child(2)")).isEqualTo("0");
    assertThat(text("#overflow tbody tr:last-child td:nth-child(3)")).isEqualTo("1");
  }

  private static float[] rms(float... x) {
    return apply(RmsNorm.builder(x.length).backend(Backend.scalar()).build(), x);
  }

  private static float[] rms(List<Double> x) {
    return rms(floats(x));
  }

  private static float[] layer(float... x) {
    return apply(LayerNorm.builder(x.length).epsilon(1e-6).backend(Backend.scalar()).build(), x);
  }

  private static float[] layer(List<Double> x) {
    return layer(floats(x));
  }

  private static float[] floats(List<Double> x) {
    float[] floats = new float[x.size()];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = x.get(i).floatValue();
    }
    return floats;
  }

  private static float[] apply(Norm norm, float[] x) {
    float[] y = new float[x.length];
    norm.apply(x, y);
    return y;
  }

  /** As the page shows numbers. */
  private static String shown(float[] values) {
    List<Double> numbers = new ArrayList<>();
    for (float value : values) {
      numbers.add((double) value);
    }
    return browser.run("return shownRow(arguments[0]).join(' ')", numbers).toString();
  }

  /** What stands in each step of a norm. */
  private static List<String> steps(String norm) {
    Object cells =
        browser.run(
            """
            return [...document.querySelectorAll(`#steps .cell.${arguments[0]}`)]
              .map((cell) => [...cell.querySelectorAll("span")].map((e) => e.textContent).join(" "))
            """,
            norm);
    return ((List<?>) cells).stream().map(Object::toString).toList();
  }

  private static List<Double> row() {
    return ((List<?>) browser.run("return state.row"))
        .stream().map(value -> ((Number) value).doubleValue()).toList();
  }

  private static List<String> verdicts() {
    return List.of(
        browser
            .run("return document.querySelector('#moved-rms-reading strong').className")
            .toString(),
        browser
            .run("return document.querySelector('#moved-layer-reading strong').className")
            .toString());
  }

  private static String text(String selector) {
    return browser
        .run("return document.querySelector(arguments[0]).textContent", selector)
        .toString();
  }

  private static void click(String selector) {
    browser.run("document.querySelector(arguments[0]).click()", selector);
  }

  private static void choose(String select, String value) {
    set("#" + select, value);
    browser.run("document.getElementById(arguments[0]).dispatchEvent(new Event('change'))", select);
  }

  private static void slide(String slider, int value) {
    set("#" + slider, String.valueOf(value));
  }

  private static void type(String container, int field, String text) {
    set("#%s input:nth-of-type(%d)".formatted(container, field + 1), text);
  }

  private static void set(String selector, String value) {
    browser.run(
        """
        const field = document.querySelector(arguments[0]);
        field.focus();
        field.value = arguments[1];
        field.dispatchEvent(new Event("input"));
        """,
        selector,
        value);
  }
}
