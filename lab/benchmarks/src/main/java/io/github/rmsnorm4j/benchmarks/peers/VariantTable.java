package io.github.rmsnorm4j.benchmarks.peers;

import static java.util.stream.Collectors.joining;

import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.Target.Verdict;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.Samples;
import io.github.rmsnorm4j.measure.SourceCommit;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Variants and quantised output as Markdown: a table for each {@link KernelKind}, in which a row is
 * a {@link Comparison} and a column a shape.
 */
public final class VariantTable {
  /** Their times are shown as well. */
  private static final List<Variant> PLAIN = List.of(Variant.NORM, Variant.WITHOUT_GAIN);

  private final PeerResults results;

  private VariantTable(PeerResults results) {
    this.results = results;
  }

  /**
   * {@return the tables and how many targets are met}
   *
   * @param results of a run
   */
  public static String of(PeerResults results) {
    VariantTable table = new VariantTable(results);
    return table.head() + Stream.of(KernelKind.values()).map(table::table).collect(joining());
  }

  private String head() {
    Machine m = results.machine();
    TargetTable targets = new TargetTable(results);
    return """
    ### Variants: %s, %s-bit vectors

    %s %s processors, %s. Java: %s. Other systems: %s. Of %s targets %s are met.

    """
        .formatted(
            m.cpu(),
            m.vectorBits(),
            SourceCommit.measuredOn(results.date(), results.commit()),
            m.processors(),
            m.system(),
            m.java(),
            String.join(", ", results.versions()),
            targets.judged(),
            targets.judged() - targets.missed().size());
  }

  /** Nothing if no JVM had such kernels. */
  private String table(KernelKind kind) {
    List<Shape> shapes =
        results.figures().stream()
            .filter(figure -> figure.entries().stream().anyMatch(e -> isOf(kind, e)))
            .map(figure -> new Shape(figure.contest().rows(), figure.contest().width()))
            .distinct()
            .toList();
    if (shapes.isEmpty()) {
      return "";
    }
    String titles = shapes.stream().map(shape -> " " + shape + " |").collect(joining());
    Stream<String> ratios =
        Comparison.all().stream()
            .map(
                c ->
                    row(
                        c,
                        "%s / %s".formatted(c.variant().title(), c.against().title()),
                        shapes,
                        contest -> ratio(c, contest, kind)));
    Stream<String> times =
        Comparison.all().stream()
            .filter(c -> PLAIN.contains(c.against()))
            .map(
                c ->
                    row(
                        c,
                        c.against().title(),
                        shapes,
                        contest -> time(contest, c.against().system(kind))))
            .distinct();
    return "| %s, one thread, mixed workload |%s\n| --- |%s\n%s\n"
        .formatted(
            kind.title(),
            titles,
            " ---: |".repeat(shapes.size()),
            Stream.concat(ratios, times).collect(joining()));
  }

  private static boolean isOf(KernelKind kind, Entry entry) {
    return entry.refused() == null && entry.system().endsWith(", " + kind.title());
  }

  /** Nothing if there is no cell. */
  private static String row(
      Comparison of, String title, List<Shape> shapes, Function<Contest, String> cell) {
    List<String> cells =
        shapes.stream()
            .map(shape -> Contest.forward(of.kernel(), shape.rows, shape.width).with(of.type()))
            .map(cell)
            .toList();
    return cells.stream().allMatch(String::isEmpty)
        ? ""
        : "| %s %s: %s | %s |\n"
            .formatted(of.kernel(), of.type(), title, String.join(" | ", cells));
  }

  /** With its limit in brackets. */
  private String ratio(Comparison comparison, Contest contest, KernelKind kind) {
    String system = comparison.variant().system(kind);
    String against = comparison.against().system(kind);
    OptionalDouble ratio = Target.ratio(results, contest, 1, system, against);
    if (ratio.isEmpty()) {
      return "";
    }
    String shown = PeerTables.text("%.2f", ratio.getAsDouble());
    return comparison
        .target(contest, kind)
        .map(target -> judged(shown, target, target.verdict(ratio)))
        .orElse(shown);
  }

  private static String judged(String ratio, Target target, Verdict verdict) {
    String shown = verdict == Verdict.MISSED ? "**" + ratio + "**" : ratio;
    return "%s (%s %s)".formatted(shown, target.bound(), target.limit());
  }

  private String time(Contest contest, String system) {
    List<Double> times =
        results.figures().stream()
            .filter(figure -> figure.contest().equals(contest))
            .flatMap(figure -> figure.entry(system).stream())
            .filter(entry -> entry.refused() == null)
            .map(Entry::median)
            .toList();
    return times.isEmpty() ? "" : PeerTables.micros(Samples.median(times));
  }

  private record Shape(int rows, int width) {
    @Override
    public String toString() {
      return rows + " x " + width;
    }
  }
}
