package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.measure.Paragraph;
import io.github.rmsnorm4j.models.check.CheckReport;
import io.github.rmsnorm4j.models.check.Finding;
import io.github.rmsnorm4j.models.check.QuantizedFinding;
import io.github.rmsnorm4j.models.check.QuantizedReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What {@code check} found, for a terminal of 80 columns. */
final class CheckText {
  private static final int SHOWN = 8;
  private static final int NAME = 42;

  private CheckText() {}

  static List<String> lines(String rows, CheckReport report) {
    List<String> lines = new ArrayList<>(Paragraph.lines("", rows));
    left(report, lines);
    lines.add("");
    lines.add(line("", "equal", "largest", "", "rstd"));
    lines.add(line("norm", "elements", "ulp", "explained", "ulp"));
    List<Finding> named = report.named();
    named.stream().limit(SHOWN).forEach(finding -> row(finding, lines));
    if (named.size() > SHOWN) {
      lines.add("... and %s more with the same figures".formatted(named.size() - SHOWN));
    }
    if (!named.isEmpty() && !report.others().isEmpty()) {
      lines.add("Others, each with one choice changed:");
    }
    report.others().forEach(finding -> row(finding, lines));
    lines.add("");
    if (!named.isEmpty()) {
      List<Long> by = named.getFirst().rowsByUlp();
      lines.addAll(
          Paragraph.lines(
              "",
              "Rows by the ulp of rstd that the first norm needs: 0 in %s, 1 in %s, 2 in %s, 3 to 6 in %s, more in %s (window: %s)."
                  .formatted(
                      by.get(0), by.get(1), by.get(2), by.get(3), by.get(4), report.window())));
    }
    report.verdict().forEach(sentence -> lines.addAll(Paragraph.lines("", sentence)));
    return lines;
  }

  static List<String> lines(String rows, QuantizedReport report) {
    List<String> lines = new ArrayList<>(Paragraph.lines("", rows));
    lines.add("");
    lines.add(codesLine("", "equal", "equal", "largest"));
    lines.add(codesLine("norm, rules", "codes", "scales", "step"));
    report.named().stream().limit(SHOWN).forEach(finding -> row(finding, lines));
    if (report.named().size() > SHOWN) {
      lines.add("... and %s more with the same figures".formatted(report.named().size() - SHOWN));
    }
    if (!report.named().isEmpty() && !report.others().isEmpty()) {
      lines.add("Others:");
    }
    report.others().forEach(finding -> row(finding, lines));
    lines.add("");
    report.verdict().forEach(sentence -> lines.addAll(Paragraph.lines("", sentence)));
    return lines;
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

  /** The rows that say nothing. */
  private static void left(CheckReport report, List<String> lines) {
    int[] counts = {report.notFinite(), report.zero(), report.outOfRange()};
    String[] why = {"not finite", "zero throughout", "out of the range of float32 squares"};
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        lines.add("rows left out: %s, which are %s".formatted(counts[i], why[i]));
      }
    }
  }

  private static void row(Finding finding, List<String> lines) {
    List<String> name = Paragraph.lines("", finding.norm());
    String first = finding.norm().length() > NAME ? "" : finding.norm();
    if (first.isEmpty()) {
      lines.addAll(name);
    }
    lines.add(
        line(
            first,
            String.format(Locale.ROOT, "%,d", finding.equal()),
            finding.largestUlp() < 1e6
                ? String.format(Locale.ROOT, "%.3g", finding.largestUlp())
                    .replaceFirst("\\.?0+$", "")
                : String.format(Locale.ROOT, "%.0e", finding.largestUlp()),
            finding.explained() < -9.99
                ? "< -999 %"
                : String.format(Locale.ROOT, "%.0f %%", Math.floor(100 * finding.explained())),
            "" + finding.greatestUlp()));
  }

  private static String line(String name, String equal, String ulp, String explained, String rstd) {
    return String.format("%-42s %10s %8s %9s %6s", name, equal, ulp, explained, rstd);
  }
}
