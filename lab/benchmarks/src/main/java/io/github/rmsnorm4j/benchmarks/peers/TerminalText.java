package io.github.rmsnorm4j.benchmarks.peers;

import io.github.rmsnorm4j.measure.Paragraph;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The Markdown of {@link PeerTables} as a terminal of 80 columns shows it. A table that is too wide
 * for it goes row by row if it has few columns, and else column by column.
 */
public final class TerminalText {
  private static final int COLUMNS = 79;

  /** A wide table with so many columns behind the first goes row by row. */
  private static final int FEW = 3;

  private static final String INDENT = "  ";

  /** Labels are as wide as the longest, up to here: one long label moves no other row's cell. */
  private static final int LABELS = 45;

  /** Instead of bold type, which a terminal may lack: a missed target, or a wrong answer. */
  private static final String MARK = " (!)";

  private final List<String> lines = new ArrayList<>();

  private TerminalText() {}

  /**
   * Converts headings, paragraphs and tables.
   *
   * @param markdown with bold type and code, and no other markup in lines
   * @return lines; one is longer than 79 characters only where a single word is
   */
  public static List<String> of(String markdown) {
    TerminalText text = new TerminalText();
    List<List<String>> table = new ArrayList<>();
    for (String line : markdown.lines().toList()) {
      if (line.startsWith("|")) {
        if (!line.startsWith("| ---")) {
          table.add(cells(line));
        }
        continue;
      }
      text.table(table);
      table.clear();
      if (!line.isEmpty()) {
        text.lines.addAll(Paragraph.lines("", plain(line.replaceFirst("^#+ ", ""))));
      } else {
        text.gap();
      }
    }
    text.table(table);
    return text.lines;
  }

  private static List<String> cells(String line) {
    String inner = line.substring(1, line.lastIndexOf('|'));
    return List.of(inner.split("\\|", -1)).stream().map(cell -> plain(cell.strip())).toList();
  }

  private static String plain(String text) {
    return text.replaceAll("\\*\\*(.+?)\\*\\*", "$1" + MARK).replace("`", "");
  }

  private void table(List<List<String>> rows) {
    if (rows.isEmpty()) {
      return;
    }
    int columns = rows.getFirst().size();
    int[] widths =
        IntStream.range(0, columns)
            .map(column -> rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0))
            .toArray();
    if (IntStream.of(widths).sum() + 2 * (columns - 1) <= COLUMNS) {
      rows.forEach(row -> lines.add(aligned(row, widths)));
    } else if (columns <= 1 + FEW) {
      rowByRow(rows);
    } else {
      columnByColumn(rows);
    }
  }

  /** The first column to the left, the others to the right. */
  private static String aligned(List<String> row, int... widths) {
    StringBuilder line = new StringBuilder(padded(row.getFirst(), widths[0]));
    for (int column = 1; column < widths.length; column++) {
      line.append("  ");
      line.append(" ".repeat(widths[column] - row.get(column).length())).append(row.get(column));
    }
    return line.toString().stripTrailing();
  }

  private static String padded(String text, int width) {
    return text + " ".repeat(Math.max(0, width - text.length()));
  }

  private void rowByRow(List<List<String>> rows) {
    List<String> titles = rows.getFirst();
    lines.addAll(Paragraph.lines("", titles.getFirst()));
    for (List<String> row : rows.subList(1, rows.size())) {
      lines.addAll(Paragraph.lines(INDENT, row.getFirst()));
      String cells =
          IntStream.range(1, row.size())
              .filter(column -> !row.get(column).isEmpty())
              .mapToObj(column -> titles.get(column) + ": " + row.get(column))
              .collect(Collectors.joining("; "));
      lines.addAll(Paragraph.lines(INDENT.repeat(3), cells));
    }
  }

  private void columnByColumn(List<List<String>> rows) {
    List<String> titles = rows.getFirst();
    for (int column = 1; column < titles.size(); column++) {
      lines.addAll(Paragraph.lines("", titles.getFirst() + ": " + titles.get(column)));
      int at = column;
      List<List<String>> shown =
          rows.subList(1, rows.size()).stream().filter(row -> !row.get(at).isEmpty()).toList();
      int widest = shown.stream().mapToInt(row -> row.getFirst().length()).max().orElse(0);
      int width = Math.min(widest, LABELS);
      for (List<String> row : shown) {
        String together = INDENT + padded(row.getFirst(), width) + "  " + row.get(at);
        if (together.length() <= COLUMNS) {
          lines.add(together);
        } else {
          lines.addAll(Paragraph.lines(INDENT, row.getFirst()));
          lines.addAll(Paragraph.lines(INDENT.repeat(3), row.get(at)));
        }
      }
      gap();
    }
  }

  private void gap() {
    if (!lines.isEmpty() && !lines.getLast().isEmpty()) {
      lines.add("");
    }
  }
}
