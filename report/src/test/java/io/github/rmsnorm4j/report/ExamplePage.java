package io.github.rmsnorm4j.report;

import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** A page with one of everything, for tests. Its numbers are made up. */
final class ExamplePage {
  /** What a text would have to hold to become something else. */
  static final String HOSTILE =
      "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
          + "'\"&amp;\u2028\u2029<!--<script>${1}`\\u003c\u0000é𝄞";

  private static final double[] WIDTHS = {64, 256, 1024, 4096, 16384, 65536};
  private static final double[] NONE = {};

  private ExamplePage() {}

  static Page page() {
    return Page.titled("Two norms on one machine")
        .lead(
            "On this machine RMSNorm takes 0.62 of LayerNorm's time, and memory is what both wait for.")
        .keyFigure("2.4 ×", "naive RMSNorm over fused LayerNorm, time")
        .keyFigure("3.0 ×", "naive RMSNorm over fused LayerNorm, memory")
        .keyFigure("91 %", "of the copy bandwidth reached by RMSNorm")
        .section("By width")
        .paragraph("Rows of 64 to 65,536 elements, 16 MiB of them in all, in turn.")
        .chart(lines())
        .section("By shape")
        .chart(bars())
        .table(table())
        .section("What the machine allows")
        .chart(roofline())
        .section("A long run")
        .chart(curve())
        .section("To repeat it")
        .list(List.of("a machine that has nothing else to do", "the same JDK"))
        .code("./rmsnorm compare --shape 128x4096 --dtype f32 --threads 1 --report report.html\n")
        .details("The machine", inside -> inside.paragraph("Two cores.").code("flags: avx2 fma\n"));
  }

  static Chart lines() {
    double[] layer = {0.021, 0.042, 0.11, 0.38, 1.52, 6.4};
    double[] rms = {0.012, 0.024, 0.071, 0.24, Double.NaN, 3.9};
    return Chart.titled("Time of one call by width")
        .over(Axis.logarithmic("width (elements)").ticks(WIDTHS), Axis.logarithmic("time (ms)"))
        .with(Series.line("LayerNorm", WIDTHS, layer).spread(times(layer, 0.8), times(layer, 1.3)))
        .with(Series.line("RMSNorm", WIDTHS, rms).spread(times(rms, 0.9), times(rms, 1.2)))
        .with(Series.line("plain loop", WIDTHS, new double[] {0.05, 0.15, 0.5, 2, 8, 0}))
        .with(Series.limit("memory copy", WIDTHS, new double[] {0.005, 0.015, 0.05, 0.2, 0.8, 3.2}))
        .caption(
            "The median of nine calls; the band is from the fastest to the slowest. RMSNorm has no "
                + "value at 16,384.");
  }

  static Chart bars() {
    List<String> shapes = List.of("1 × 4096", "128 × 4096", "4096 × 64");
    double[] naive = {3.1, 4.2, 5.9};
    double[] fused = {1, 1.4, 1.1};
    return Chart.titled("Time against a memory copy")
        .over(Axis.categories("shape", shapes), Axis.linear("multiple of the copy's time"))
        .with(Series.bars("LayerNorm, naive", 4.6, 5.5, Double.NaN))
        .with(Series.bars("LayerNorm, fused", 1.6, 1.9, 1.7))
        .with(Series.bars("RMSNorm, naive", naive).spread(times(naive, 0.9), times(naive, 1.15)))
        .with(Series.bars("RMSNorm, fused", fused).spread(times(fused, 0.95), times(fused, 1.1)))
        .caption("Lower is better; the whiskers are from the fastest to the slowest call.");
  }

  static Chart roofline() {
    return Chart.titled("Roofline")
        .over(
            Axis.logarithmic("operations per byte"), Axis.logarithmic("speed (GFLOP/s)").from(0.5))
        .with(Series.points("naive", new double[] {0.1, 0.13}, new double[] {0.9, 1.2}))
        .with(Series.points("fused", new double[] {0.5, 0.9}, new double[] {5.2, 9.1}))
        .with(
            Series.limit(
                "memory and arithmetic", new double[] {0.05, 8, 64}, new double[] {0.6, 96, 96}))
        .caption("Whatever is left of the bend waits for memory.");
  }

  static Chart curve() {
    double[] steps = IntStream.range(0, 400).asDoubleStream().toArray();
    return Chart.titled("Loss by step")
        .over(Axis.linear("step"), Axis.linear("loss (nats)").from(0))
        .with(Series.line("RMSNorm", steps, each(steps, 4, 60)))
        .with(Series.line("LayerNorm", steps, each(steps, 4.1, 66)));
  }

  static Chart empty() {
    return Chart.titled("Nothing")
        .over(Axis.logarithmic("x"), Axis.linear("y"))
        .with(Series.line("none", NONE, NONE))
        .with(Series.line("absent", new double[] {1}, new double[] {Double.NaN}));
  }

  static Table table() {
    return Table.titled("At 128 × 4096, float32")
        .text("norm")
        .text("how it is computed")
        .number("time (µs)")
        .number("spread (µs)")
        .number("moved (MB)")
        .number("share of the copy bandwidth")
        .number("largest error (ULP)")
        .row("LayerNorm", "one pass for each operation", "301", "12", "21.0", "31 %", "2.1")
        .row("LayerNorm", "fused", "118", "4", "4.2", "78 %", "0.9")
        .row(
            List.of(
                Cell.of("RMSNorm"),
                Cell.of("one pass for each operation, float16"),
                Cell.of(284),
                Cell.of(9),
                Cell.of(16.8),
                Cell.of("33 %"),
                Cell.of("overflows").bad()))
        .row(
            List.of(
                Cell.of("RMSNorm"),
                Cell.of("fused"),
                Cell.of(96).good(),
                Cell.of(3),
                Cell.of(4.2),
                Cell.of("91 %").good(),
                Cell.of(0.8)));
  }

  /** Every text there is, hostile. */
  static Page hostile() {
    Chart chart =
        Chart.titled(HOSTILE)
            .over(Axis.categories(HOSTILE, List.of(HOSTILE, "b")), Axis.linear(HOSTILE))
            .with(Series.bars(HOSTILE, 1, 2))
            .caption(HOSTILE);
    return Page.titled(HOSTILE)
        .lead(HOSTILE)
        .keyFigure(HOSTILE, HOSTILE)
        .section(HOSTILE)
        .paragraph(HOSTILE)
        .list(List.of(HOSTILE))
        .code(HOSTILE)
        .chart(chart)
        .table(Table.titled(HOSTILE).text(HOSTILE).row(HOSTILE))
        .details(HOSTILE, inside -> inside.paragraph(HOSTILE));
  }

  private static double[] times(double[] values, double factor) {
    return DoubleStream.of(values).map(v -> v * factor).toArray();
  }

  private static double[] each(double[] steps, double first, double pace) {
    return DoubleStream.of(steps)
        .map(step -> 0.4 + first * Math.exp(-step / pace) + 0.05 * Math.sin(step))
        .toArray();
  }
}
