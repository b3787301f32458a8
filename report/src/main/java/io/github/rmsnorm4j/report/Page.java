package io.github.rmsnorm4j.report;

import io.github.rmsnorm4j.formats.ReplacingFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * An HTML page in one file, written from top to bottom. It needs no network and may not use it: its
 * policy (Content-Security-Policy) forbids the browser to load anything, and to run any script but
 * the two that draw the charts.
 *
 * <pre>{@code
 * Page.titled("RMSNorm on this machine")
 *     .lead("It takes 0.6 of LayerNorm's time.")
 *     .section("By width")
 *     .chart(chart)
 *     .table(table)
 *     .details("How to repeat it", inside -> inside.code("./rmsnorm compare"))
 *     .write(Path.of("report.html"));
 * }</pre>
 *
 * <p>Not for use by several threads.
 */
public final class Page {
  private final String title;
  private final StringBuilder body = new StringBuilder();
  private int charts;

  private Page(String title) {
    this.title = Objects.requireNonNull(title, "title");
  }

  /**
   * {@return a page, empty below its heading}
   *
   * @param title its heading, and the name of the browser's tab
   */
  public static Page titled(String title) {
    return new Page(title);
  }

  /**
   * Adds what the reader who reads no further should know.
   *
   * @param text a sentence or two, in larger type
   * @return this page
   */
  public Page lead(String text) {
    return element("p class=\"lead\"", text);
  }

  /**
   * Adds a number worth the space; several in a row stand side by side.
   *
   * @param value the number with its unit: {@code "2.4 x"}
   * @param meaning what it is, in a few words
   * @return this page
   */
  public Page keyFigure(String value, String meaning) {
    body.append("<p class=\"key\"><strong>")
        .append(Printed.html(value))
        .append("</strong> <span>")
        .append(Printed.html(meaning))
        .append("</span></p>\n");
    return this;
  }

  /**
   * Adds a heading.
   *
   * @param heading the heading
   * @return this page
   */
  public Page section(String heading) {
    return element("h2", heading);
  }

  /**
   * Adds a paragraph.
   *
   * @param text its text
   * @return this page
   */
  public Page paragraph(String text) {
    return element("p", text);
  }

  /**
   * Adds a list with a dot before each entry.
   *
   * @param entries their texts
   * @return this page
   */
  public Page list(List<String> entries) {
    body.append("<ul>\n");
    entries.forEach(entry -> element("li", entry));
    body.append("</ul>\n");
    return this;
  }

  /**
   * Adds lines as they are, in type of fixed width, as commands.
   *
   * @param lines the lines
   * @return this page
   */
  public Page code(String lines) {
    // The first line break after <pre> is not shown, so it takes one of its own.
    body.append("<pre tabindex=\"0\">\n").append(Printed.html(lines)).append("</pre>\n");
    return this;
  }

  /**
   * Adds a table.
   *
   * @param table the table
   * @return this page
   */
  public Page table(Table table) {
    Markup.table(body, table);
    return this;
  }

  /**
   * Adds a chart, with its numbers in a table that opens below it.
   *
   * @param chart the chart
   * @return this page
   */
  public Page chart(Chart chart) {
    Markup.chart(body, chart, ++charts);
    return this;
  }

  /**
   * Adds something that is closed until the reader opens it.
   *
   * @param summary what is shown while it is closed
   * @param content adds to the page what is inside
   * @return this page
   */
  public Page details(String summary, Consumer<Page> content) {
    body.append("<details><summary>").append(Printed.html(summary)).append("</summary>\n");
    content.accept(this);
    body.append("</details>\n");
    return this;
  }

  private Page element(String tag, String text) {
    String name = tag.split(" ")[0];
    body.append('<').append(tag).append('>').append(Printed.html(text));
    body.append("</").append(name).append(">\n");
    return this;
  }

  /** {@return the page as it is now: the text of an HTML file, to be encoded as UTF-8} */
  public String html() {
    return Markup.page(title, body, charts > 0);
  }

  /**
   * Writes the page as it is now, whole or not at all: where it fails, what was there before is
   * still there.
   *
   * @param file where; a file that is there is replaced
   * @throws IOException if that fails
   */
  public void write(Path file) throws IOException {
    try (ReplacingFile out = ReplacingFile.create(file, true)) {
      out.write(MemorySegment.ofArray(html().getBytes(StandardCharsets.UTF_8)));
      out.commit();
    }
  }
}
