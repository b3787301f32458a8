package io.github.rmsnorm4j.bench;

import io.github.rmsnorm4j.measure.MachineLoad;
import io.github.rmsnorm4j.measure.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What {@code rmsnorm bench --against} prints.
 *
 * @param hash of the other commit
 * @param old nanoseconds of a call with its library: a title, and a number for each pair of JVMs
 * @param now those of this checkout
 * @param load of the machine before all this
 */
record AgainstTable(
    String hash, Map<String, List<Double>> old, Map<String, List<Double>> now, MachineLoad load) {
  private static final String TIMES = "%-40s %12s %12s   ";
  private static final String NO_DIFFERENCE = "no difference found";

  /** {@return the lines} */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "µs of a call on one thread; old is " + hash.substring(0, 12) + ", new is this checkout.");
    int pairs = old.values().iterator().next().size();
    lines.addAll(legend(pairs));
    lines.add("");
    lines.add(
        TIMES.formatted("", "old", "new") + "ratio" + (pairs > 1 ? "  (lowest to highest)" : ""));
    old.forEach((title, before) -> lines.add(row(title, before, now.get(title))));
    if (!load.warning().isEmpty()) {
      lines.addAll(List.of("", load.warning()));
    }
    return lines;
  }

  static List<String> legend(int pairs) {
    if (pairs == 1) {
      return List.of(
          "The ratio is new / old of one pair of JVMs. It cannot be told from noise: take more pairs"
              + " (--jvms).");
    }
    return List.of(
        "The ratio is the median of new / old of %s pairs of JVMs, in brackets the lowest and the"
                .formatted(pairs)
            + " highest.",
        "Where these include 1, there is %s. Code that is the same still shows a ratio in up to %s %%"
                .formatted(NO_DIFFERENCE, number(100 * Math.pow(2, 1 - pairs), 1))
            + " of the rows, by chance.");
  }

  /**
   * The ratio is the median of those of the pairs, each of JVMs that ran one after the other. It is
   * shown where all of them, as they are printed, are on one side of 1.
   */
  static String row(String title, List<Double> before, List<Double> after) {
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < before.size(); i++) {
      ratios.add(after.get(i) / before.get(i));
    }
    Samples spread = new Samples(ratios);
    String times = TIMES.formatted(title, time(before), time(after));
    if (ratios.size() == 1) {
      return times + number(spread.median(), 2);
    }
    boolean found = hundredths(spread.highest()) < 100 || hundredths(spread.lowest()) > 100;
    return times
        + (found ? "%-5s".formatted(number(spread.median(), 2)) : NO_DIFFERENCE)
        + "  (%s to %s)".formatted(number(spread.lowest(), 2), number(spread.highest(), 2));
  }

  private static String time(List<Double> nanos) {
    return number(Samples.median(nanos) / 1000, 2);
  }

  private static long hundredths(double ratio) {
    return Math.round(100 * ratio);
  }

  private static String number(double value, int digits) {
    return String.format(Locale.ROOT, "%." + digits + "f", value);
  }
}
