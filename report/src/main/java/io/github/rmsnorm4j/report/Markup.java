package io.github.rmsnorm4j.report;

import io.github.rmsnorm4j.report.Table.Column;
import java.util.List;
import java.util.Locale;

/** The HTML of a page and of its larger parts. */
final class Markup {
  /** More names than this take more than two lines of a narrow legend. */
  private static final int FEW = 4;

  private Markup() {}

  static String page(String title, CharSequence body, boolean charts) {
    String main = "<h1>" + Printed.html(title) + "</h1>\n" + body;
    return Document.html(
        "en",
        title,
        "",
        main,
        charts ? List.of(Resources.CHART_JS, Resources.DRAW_CHARTS) : List.of());
  }

  static void chart(StringBuilder html, Chart chart, int number) {
    String id = "chart-" + number;
    html.append("<figure class=\"chart\" aria-labelledby=\"").append(id).append("-title\">\n");
    html.append("<h3 id=\"").append(id).append("-title\">").append(Printed.html(chart.title));
    String plot = chart.series.size() > FEW ? "plot many" : "plot";
    html.append("</h3>\n<div class=\"").append(plot).append("\"><canvas id=\"").append(id);
    html.append("\" role=\"img\" aria-label=\"").append(Printed.html(chart.title));
    html.append(". Its numbers are in the table below.\"></canvas></div>\n");
    html.append("<noscript><p>The chart needs JavaScript; its numbers are below.</p></noscript>\n");
    html.append("<figcaption>").append(Printed.html(chart.caption));
    long notDrawn = chart.notDrawn();
    if (notDrawn > 0) {
      html.append(chart.caption.isEmpty() ? "" : " ").append(notDrawn);
      html.append(notDrawn == 1 ? " value has" : " values have");
      html.append(" no place on these axes and ").append(notDrawn == 1 ? "is" : "are");
      html.append(" only among the numbers.");
    }
    html.append("</figcaption>\n<details><summary>The numbers</summary>\n");
    table(html, Numbers.of(chart));
    html.append("</details>\n").append(Document.data(id + "-data", ChartJson.of(chart)));
    html.append("\n</figure>\n");
  }

  static void table(StringBuilder html, Table table) {
    // Can be scrolled by keyboard as well.
    html.append("<div class=\"table\" tabindex=\"0\"><table>\n");
    if (!table.title.isEmpty()) {
      html.append("<caption>").append(Printed.html(table.title)).append("</caption>\n");
    }
    html.append("<thead><tr>");
    for (Column column : table.columns) {
      html.append(column.number() ? "<th scope=\"col\" class=\"number\">" : "<th scope=\"col\">");
      html.append(Printed.html(column.title())).append("</th>");
    }
    html.append("</tr></thead>\n<tbody>\n");
    table.rows.forEach(row -> row(html, table.columns, row));
    html.append("</tbody>\n</table></div>\n");
  }

  private static void row(StringBuilder html, List<Column> columns, List<Cell> cells) {
    html.append("<tr>");
    for (int i = 0; i < cells.size(); i++) {
      Cell cell = cells.get(i);
      String type = columns.get(i).number() ? "number" : "";
      String mark =
          cell.mark() == Cell.Mark.NONE ? "" : cell.mark().name().toLowerCase(Locale.ROOT);
      String classes = (type + ' ' + mark).strip();
      html.append(classes.isEmpty() ? "<td>" : "<td class=\"" + classes + "\">");
      html.append(Printed.html(cell.text())).append("</td>");
    }
    html.append("</tr>\n");
  }
}
