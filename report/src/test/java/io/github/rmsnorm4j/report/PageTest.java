package io.github.rmsnorm4j.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The text of a page; {@link PageInBrowserTest} is about what a browser makes of it. */
class PageTest {
  @TempDir private Path folder;

  @Test
  void aPageWithoutChartsHasNoScript() {
    assertThat(Page.titled("Plain").paragraph("words").html())
        .contains("script-src 'none'", "<h1>Plain</h1>", "<p>words</p>")
        .doesNotContain("<script", "Chart");
  }

  @Test
  void aPageNamesNothingOutsideItself() {
    String html = ExamplePage.page().html();
    assertThat(html).doesNotContain("sourceMappingURL").doesNotContainPattern("(src|@import)=\"?h");
    assertThat(html).containsOnlyOnce("href=").contains("<link rel=\"icon\" href=\"data:,\">");
  }

  @Test
  void hostileTextsEndNoElement() {
    String html = ExamplePage.hostile().html();
    assertThat(html).doesNotContain("<img", "<!--", "\u2028", "\u2029", "\u0000");
    assertThat(html.split("<script", -1)).hasSize(4); // What is before, the data, two scripts.
    assertThat(html.split("</script", -1)).hasSize(4);
  }

  @Test
  void aScriptsOwnTextCannotEndItsElement() {
    assertThat(Resources.inScriptElement("a('</SCRIPT>', '<!--', '<script>', 1 < b)"))
        .isEqualTo("a('\\x3c/SCRIPT>', '\\x3c!--', '\\x3cscript>', 1 < b)");
  }

  @Test
  void dataAreAsciiThatHoldsNoMarkup() {
    assertThat(ExamplePage.hostile().html())
        .contains("\\u003c/script\\u003e", "\\u2028\\u2029", "\\u0026amp;");
  }

  @Test
  void itReplacesWhatWasThereWholeOrNotAtAll() throws IOException {
    Path file = Files.writeString(folder.resolve("page.html"), "before");
    Page page = Page.titled("é");
    page.write(file);
    assertThat(file).hasContent(page.html());
    assertThat(folder).isDirectoryNotContaining("glob:**.tmp");

    assertThatThrownBy(() -> page.write(folder.resolve("no such folder/page.html")))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("there is no folder");
  }

  @Test
  void cellsCarryTheirMarks() {
    Table table =
        Table.titled("")
            .text("norm")
            .number("ms")
            .row(List.of(Cell.of("a").good(), Cell.of(1.5).bad()))
            .row("b", "2");
    assertThat(Page.titled("t").table(table).html())
        .contains(
            "<th scope=\"col\">norm</th><th scope=\"col\" class=\"number\">ms</th>",
            "<td class=\"good\">a</td><td class=\"number bad\">1.5</td>",
            "<td>b</td><td class=\"number\">2</td>")
        .doesNotContain("<caption>");
  }
}
