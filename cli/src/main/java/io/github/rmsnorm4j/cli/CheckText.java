package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.measure.Paragraph;
import io.github.rmsnorm4j.models.check.CheckReport;
import io.github.rmsnorm4j.models.check.CheckReport.Status;
import io.github.rmsnorm4j.models.check.Finding;
import io.github.rmsnorm4j.models.check.QuantizedFinding;
import io.github.rmsnorm4j.models.check.QuantizedReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Help.Ansi.Style;

/** What {@code check} found, for a terminal of 80 columns. */
final class CheckText {
  private static final int SHOWN = 8;
  private static final int NAME = 42;

  private CheckText() {}

  static List<String> lines(String rows, CheckReport report) {
    List<String> lines = begun(rows, report.status(), report.verdict());
    lines.add(line("", "equal", "equal,", "largest", "rstd"));
    lines.add(line("norm", "elements", "own rstd", "ulp", "ulp"));
    report.named().stream().limit(SHOWN).forEach(finding -> row(finding, lines));
    between(
        lines,
        report.named().size(),
        report.others().size(),
        "Others, each with one choice changed:");
    report.others().forEach(finding -> row(finding, lines));
    return lines;
  }

  static List<String> lines(String rows, QuantizedReport report) {
    List<String> lines = begun(rows, report.status(), report.verdict());
    lines.add(codesLine("", "equal", "equal", "largest"));
    lines.add(codesLine("norm, rules", "codes", "scales", "step"));
    report.named().stream().limit(SHOWN).forEach(finding -> row(finding, lines));
    between(lines, report.named().size(), report.others().size(), "Others:");
    report.others().forEach(finding -> row(finding, lines));
    return lines;
  }

  /** What was found, its first sentence in color, and what was compared. */
  private static List<String> begun(String rows, Status status, List<String> verdict) {
    Style style = status == Status.UNKNOWN ? Style.fg_yellow : Style.fg_green;
    List<String> lines = new ArrayList<>(Paragraph.lines("", verdict.getFirst()));
    lines.replaceAll(Terminal.color(style, Terminal.STANDARD_OUTPUT));
    verdict.stream().skip(1).forEach(each -> lines.addAll(Paragraph.lines("", each)));
    lines.add("");
    lines.addAll(Paragraph.lines("", rows));
    lines.add("");
    return lines;
  }

  private static void between(List<String> lines, int named, int others, String heading) {
    if (named > SHOWN) {
      lines.add("... and %s more with the same figures".formatted(named - SHOWN));
    }
    if (named > 0 && others > 0) {
      lines.add(heading);
    }
  }

  private static void row(QuantizedFinding finding, List<String> lines) {
    boolean fits = finding.norm().length() <= NAME;
    if (!fits) {
      lines.addAll(Paragraph.lines("", finding.norm()));
    }
    lines.add(
        codesLine(
            fits ? finding.norm() : "",
            String.format(Locale.ROOT, "%,d", finding.equalCodes()),
            String.format(Locale.ROOT, "%,d", finding.equalScales()),
            "" + finding.largestStep()));
    lines.addAll(Paragraph.lines("  ", finding.rulesText()));
  }

  private static String codesLine(String norm, String codes, String scales, String step) {
    return String.format("%-42s %11s %11s %11s", norm, codes, scales, step);
  }

  private static void row(Finding finding, List<String> lines) {
    boolean fits = finding.norm().length() <= NAME;
    if (!fits) {
      lines.addAll(Paragraph.lines("", finding.norm()));
    }
    double ulp = finding.largestUlp();
    lines.add(
        line(
            fits ? finding.norm() : "",
            String.format(Locale.ROOT, "%,d", finding.equal()),
            String.format(Locale.ROOT, "%,d", finding.ownEqual()),
            String.format(Locale.ROOT, ulp < 1e6 ? "%.0f" : "%.0e", ulp),
            "" + finding.greatestUlp()));
  }

  private static String line(String name, String equal, String own, String ulp, String rstd) {
    return String.format("%-42s %10s %10s %8s %5s", name, equal, own, ulp, rstd);
  }
}
