package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.measure.Paragraph;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The results as text, no wider than 80 columns.
 *
 * @param results what is shown
 */
public record TerminalTables(Results results) {
  private static final String ROW = "%-15s %8s %16s %4s %5s %6s %9s %6s";

  /** All of it. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (Timing timing : results.timings()) {
      lines.addAll(table(timing));
    }
    lines.addAll(halfRows());
    lines.addAll(legend());
    Verdicts verdicts = new Verdicts(results);
    section(lines, "How much time does RMSNorm save?", verdicts.overhead());
    section(lines, "What does fusion save?", verdicts.fusion());
    section(lines, "Naive RMSNorm against fused LayerNorm", verdicts.headline());
    section(lines, "Can LayerNorm be fused?", verdicts.layerNormFused());
    section(lines, "How do fused kernels do it?", verdicts.howKernelsFuse());
    if (!results.notes().isEmpty()) {
      section(lines, "Note", results.notes());
    }
    Results.Run run = results.run();
    String processor = run.isOnGpu() ? run.processor() : run.machine().cpu();
    lines.add("");
    lines.addAll(Paragraph.lines("", "Measured on %s, %s.".formatted(processor, run.date())));
    return lines;
  }

  private List<String> table(Timing timing) {
    Subject subject = timing.subject();
    List<String> lines = new ArrayList<>();
    lines.add("%s (%s a tensor)".formatted(subject, Figures.bytes(subject.tensorBytes())));
    lines.add(
        "parameters: LayerNorm %s, RMSNorm %s"
            .formatted(
                Figures.count(timing.of(Variant.LAYER_FUSED).parameters()),
                Figures.count(timing.of(Variant.RMS_FUSED).parameters())));
    lines.add(row("", "median", "lowest to highest", "B/el", "GB/s", "/copy", "memory", "error"));
    for (Timed timed : timing.variants()) {
      lines.add(
          row(
              timed.variant().toString(),
              Figures.time(timed.nanos().median()),
              Figures.times(timed.nanos().lowest(), timed.nanos().highest()),
              String.valueOf(timed.work().passes() * subject.type().bytes()),
              Figures.billions(timing.bandwidth(timed)),
              Figures.ratio(timing.timesCopy(timed)),
              results
                  .memory(subject, timed.variant())
                  .map(m -> Figures.bytes(m.bytes()))
                  .orElse("-"),
              Figures.error(timed.error())));
    }
    lines.add(
        row(
            "copy",
            Figures.time(timing.copy().median()),
            Figures.times(timing.copy().lowest(), timing.copy().highest()),
            String.valueOf(2 * subject.type().bytes()),
            Figures.billions(timing.copyBandwidth()),
            Figures.ratio(1),
            "",
            ""));
    lines.add("");
    return lines;
  }

  private static String row(String... cells) {
    return ROW.formatted((Object[]) cells).stripTrailing();
  }

  private List<String> halfRows() {
    List<String> lines = new ArrayList<>();
    for (HalfRow row : results.halfRows()) {
      lines.add(
          "The first of %s numbers of a float16 row, through %s:"
              .formatted(Figures.count(row.width()), row.norm()));
      lines.add("  x      " + numbers(row.input()));
      lines.add("  exact  " + numbers(row.exact()));
      lines.add("  naive  " + numbers(row.naive()) + wrong(row.naiveWrong(), row.width()));
      lines.add("  fused  " + numbers(row.fused()) + wrong(row.fusedWrong(), row.width()));
      lines.add("");
    }
    return lines;
  }

  private static String numbers(List<Double> values) {
    StringBuilder line = new StringBuilder();
    for (double value : values) {
      line.append(String.format(Locale.ROOT, " %9.4f", value + 0.0));
    }
    return line + " ...";
  }

  private static String wrong(int wrong, int width) {
    return wrong == 0
        ? "  all right"
        : "  %s of %s wrong".formatted(Figures.count(wrong), Figures.count(width));
  }

  private List<String> legend() {
    Wording wording = new Wording(results.run());
    return Paragraph.lines(
        "",
        "%s, every variant and the copy in turn. B/el: bytes an element, counted from"
                .formatted(wording.runner())
            + " the tensors that are read and written; GB/s: these bytes by the time. /copy: the time,"
            + " divided by the time of a copy of one tensor; compare variants by it. memory: "
            + wording.shortMemory()
            + ", with input, output and temporaries. error: the largest,"
            + " as a part of the row's largest element. -: not measured.");
  }

  private static void section(List<String> lines, String heading, List<String> sentences) {
    lines.add("");
    lines.add(heading);
    sentences.forEach(s -> lines.addAll(Paragraph.lines("  ", s)));
  }
}
