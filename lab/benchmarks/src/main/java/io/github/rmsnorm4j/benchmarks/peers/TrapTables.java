package io.github.rmsnorm4j.benchmarks.peers;

import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Change;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Trap;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Inputs that systems get wrong, as Markdown; the verdicts are computed here. */
final class TrapTables {
  /** By its title, a row's cells by system. */
  private final Map<String, Map<String, String>> rows = new LinkedHashMap<>();

  private final Set<String> systems = new LinkedHashSet<>();
  private final String title;

  private TrapTables(String title) {
    this.title = title;
  }

  static String of(PeerResults results) {
    StringBuilder all = new StringBuilder();
    for (Kernel kernel : Kernel.values()) {
      TrapTables traps = new TrapTables(kernel + ", traps");
      results.traps().stream()
          .filter(trap -> trap.contest().kernel() == kernel)
          .forEach(trap -> traps.put(trap.input(), trap.system(), verdict(trap)));
      TrapTables changes = new TrapTables(kernel + ", the same rows twice");
      results.changes().stream()
          .filter(change -> change.contest().kernel() == kernel)
          .forEach(change -> changes.put(change.what(), change.system(), verdict(change)));
      all.append(traps.markdown()).append(changes.markdown());
    }
    return all.toString();
  }

  private void put(String row, String system, String cell) {
    systems.add(system);
    rows.computeIfAbsent(row, _ -> new LinkedHashMap<>()).put(system, cell);
  }

  private String markdown() {
    if (rows.isEmpty()) {
      return "";
    }
    StringBuilder table = new StringBuilder(line(title, List.copyOf(systems)));
    table.append("| --- |").append(" --- |".repeat(systems.size())).append("\n");
    rows.forEach(
        (row, cells) -> {
          List<String> shown = new ArrayList<>();
          systems.forEach(system -> shown.add(cells.getOrDefault(system, "")));
          table.append(line(row, shown));
        });
    return table.append("\n").toString();
  }

  private static String line(String head, List<String> cells) {
    return "| %s | %s |\n".formatted(head, String.join(" | ", cells));
  }

  /**
   * "right" within the bound; otherwise the element with the largest error, and its exact value.
   */
  static String verdict(Trap trap) {
    if (trap.refused() != null) {
      return "refused";
    }
    return trap.error() <= trap.allowed()
        ? "right"
        : "**%s**, exact %s".formatted(number(trap.got()), number(trap.exact()));
  }

  static String verdict(Change change) {
    return change.differing() == 0
        ? "same bits"
        : "**%s of %s differ**".formatted(change.differing(), change.elements());
  }

  private static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e6
        ? Long.toString((long) value)
        : String.format(Locale.ROOT, "%.6g", value);
  }
}
