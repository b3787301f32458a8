package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.cuda.check.DeviceResults.Bits;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Difference;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Timed;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Results as Markdown that a terminal can show, too. Every figure is computed here. */
public final class ResultText {
  private static final int DIFFERENCES_SHOWN = 20;

  private final DeviceResults results;
  private final StringBuilder text = new StringBuilder();

  private ResultText(DeviceResults results) {
    this.results = results;
  }

  /**
   * {@return the whole text: the device, bits, errors and times, as far as they were looked at}
   *
   * @param results of a check
   */
  public static String of(DeviceResults results) {
    ResultText made = new ResultText(results);
    made.device();
    made.bits();
    made.errors();
    made.times();
    return made.text.toString();
  }

  private void device() {
    DeviceResults.Device device = results.device();
    line("### %s", device.name());
    line("");
    line(
        "Checked on %s with rmsnorm4j %s. Compute capability %s, %d GiB, a driver for CUDA %s."
            + " Java %s.",
        results.date(),
        results.version(),
        device.computeCapability(),
        Math.round((double) device.memoryBytes() / (1 << 30)),
        device.cuda(),
        results.java());
    line("");
  }

  private void bits() {
    Bits bits = results.bits();
    if (bits == null) {
      return;
    }
    if (bits.differences().isEmpty()) {
      line(
          "All %d calls of small shapes have the bytes of the CPU, guards included.", bits.calls());
      line("");
      return;
    }
    line("**%d of %d calls differ from the CPU:**", bits.differences().size(), bits.calls());
    line("");
    for (Difference one : bits.differences().stream().limit(DIFFERENCES_SHOWN).toList()) {
      line("* %s: %s", one.call(), one.what());
    }
    if (bits.differences().size() > DIFFERENCES_SHOWN) {
      line("* and so on");
    }
    line("");
  }

  private void errors() {
    if (results.errors().isEmpty()) {
      return;
    }
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("call", "bits", "largest error, ulp", "of the bound"));
    for (DeviceResults.Error error : results.errors()) {
      rows.add(
          List.of(
              error.call(),
              error.difference() == null
                  ? "the CPU's"
                  : "**others**: " + error.difference().replace("|", "/"),
              text("%.2f", error.ulps()),
              error.ofBound() == null
                  ? "none"
                  : text(error.ofBound() > 1 ? "**%.2f**" : "%.2f", error.ofBound())));
    }
    table(rows, 2);
  }

  private void times() {
    if (results.untimed() != null) {
      line("No times: %s.", results.untimed());
      line("");
    }
    if (results.times().isEmpty()) {
      return;
    }
    boolean torch =
        results.times().stream().anyMatch(timed -> timed.of(DeviceResults.TORCH).isPresent());
    line("PyTorch: %s.", results.torch());
    line("");
    List<List<String>> rows = new ArrayList<>();
    rows.add(head(torch));
    results.times().forEach(timed -> rows.add(row(timed, torch)));
    table(rows, 1);
    Goals goals = Goals.of(results.times());
    line("Of %d goals %d are met.", goals.judged(), goals.judged() - goals.missed().size());
    line("");
    refusals();
  }

  private static List<String> head(boolean torch) {
    List<String> head =
        new ArrayList<>(List.of("call", "rows", "µs", "GB/s", "of the copy", "goal"));
    if (torch) {
      head.addAll(List.of("torch, µs", "of torch"));
    }
    return head;
  }

  private static List<String> row(Timed timed, boolean torch) {
    List<String> row = new ArrayList<>();
    row.add(timed.contest().toString());
    row.add(Integer.toString(timed.rows()));
    row.add(micros(timed, DeviceResults.OWN));
    row.add(
        timed
            .of(DeviceResults.OWN)
            .map(own -> text("%.0f", timed.contest().bytes(timed.rows()) / own.median() / 1e3))
            .orElse(""));
    row.add(ratio(timed.ofCopy(), Goals.missesCopy(timed)));
    row.add(text("%.2f", timed.contest().goal()));
    if (torch) {
      row.add(micros(timed, DeviceResults.TORCH));
      row.add(ratio(timed.ofTorch(), Goals.missesTorch(timed)));
    }
    return row;
  }

  /** Why a system has no times, each reason once. */
  private void refusals() {
    for (Timed timed : results.times()) {
      for (Times times : timed.systems()) {
        if (times.refused() != null) {
          line("* %s: no times of %s: %s", timed.contest(), times.system(), times.refused());
        }
      }
    }
  }

  private static String micros(Timed timed, String system) {
    return timed.of(system).map(times -> text("%.1f", times.median())).orElse("none");
  }

  private static String ratio(double ratio, boolean missed) {
    return Double.isNaN(ratio) ? "none" : text(missed ? "**%.2f**" : "%.2f", ratio);
  }

  /** Columns from one on are figures, and stand to the right. */
  private void table(List<List<String>> rows, int figures) {
    int columns = rows.getFirst().size();
    int[] widths = new int[columns];
    rows.forEach(
        row -> {
          for (int i = 0; i < columns; i++) {
            widths[i] = Math.max(widths[i], row.get(i).length());
          }
        });
    for (int r = 0; r < rows.size(); r++) {
      for (int i = 0; i < columns; i++) {
        text.append(
            text(
                i < figures ? "| %-" + widths[i] + "s " : "| %" + widths[i] + "s ",
                rows.get(r).get(i)));
      }
      line("|");
      if (r == 0) {
        for (int i = 0; i < columns; i++) {
          String dashes = "-".repeat(Math.max(3, widths[i]));
          text.append("| ").append(i < figures ? dashes : dashes.substring(1) + ":").append(' ');
        }
        line("|");
      }
    }
    line("");
  }

  private void line(String format, Object... arguments) {
    text.append(arguments.length == 0 ? format : text(format, arguments)).append('\n');
  }

  private static String text(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
