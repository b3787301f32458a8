package io.github.rmsnorm4j.studies.story;

import io.github.rmsnorm4j.report.Axis;
import io.github.rmsnorm4j.report.Chart;
import io.github.rmsnorm4j.report.Page;
import io.github.rmsnorm4j.report.Series;
import io.github.rmsnorm4j.report.Table;
import io.github.rmsnorm4j.studies.story.Results.Depth;
import io.github.rmsnorm4j.studies.story.Results.Spread;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * The residual stream by depth, and what changes of the norms do, as a page.
 *
 * @param results what is shown
 */
public record ReportPage(Results results) {
  /** Makes the page. */
  public Page page() {
    Page page = Page.titled("The norms of a small trained model");
    page.lead(premise(results.streams().getFirst()));
    page.paragraph(
        "The model is stories260K: a Llama of 5 blocks of width 64 with 11 RMSNorms, trained on short"
            + " stories. Nothing is trained here. The figures are of three short stories that come"
            + " with the program and were not in the training.");
    page.section("The residual stream by depth")
        .paragraph(
            "Each token is a row in the residual stream. A block's norms divide the row by its root"
                + " mean square (rms). LayerNorm would subtract the row's mean first. The part of the"
                + " mean square that this takes away is rho = mean^2 / mean(x^2). The paper expects"
                + " that rho is small, so that RMSNorm can leave the mean where it is.")
        .chart(
            byDepth(
                "Root mean square by depth",
                Axis.logarithmic("root mean square of a row"),
                Depth::rms))
        .chart(
            byDepth(
                "Rho by depth", Axis.linear("mean^2 / mean(x^2) of a row").from(0), Depth::rho));
    if (!results.comparisons().isEmpty()) {
      compared(page);
    }
    page.section("To repeat it")
        .code(results.command())
        .paragraph(results.version() + ". Matrix products and norms in plain Java.");
    return page;
  }

  /** The paper's premise, as it stands in this model. */
  private static String premise(Results.Stream trained) {
    Depth largest =
        trained.depths().stream()
            .max((a, b) -> Double.compare(a.rho().median(), b.rho().median()))
            .orElseThrow();
    return String.format(
        Locale.ROOT,
        "In this trained model the mean makes up at most %.1f %% of the mean square of a typical row"
            + " (median rho, highest at depth %d).",
        100 * largest.rho().median(),
        largest.depth());
  }

  private Chart byDepth(String title, Axis y, Function<Depth, Spread> value) {
    double[] blocks =
        results.streams().getFirst().depths().stream().mapToDouble(Depth::depth).toArray();
    Chart chart =
        Chart.titled(title).over(Axis.linear("blocks before it").from(0).ticks(blocks), y);
    for (Results.Stream stream : results.streams()) {
      List<Spread> spreads = stream.depths().stream().map(value).toList();
      chart =
          chart.with(
              Series.line(
                      stream.change(),
                      blocks,
                      spreads.stream().mapToDouble(Spread::median).toArray())
                  .spread(
                      spreads.stream().mapToDouble(Spread::low).toArray(),
                      spreads.stream().mapToDouble(Spread::high).toArray()));
    }
    return chart.caption(
        "Median of the rows, with their spread; it leaves out the lowest and the highest twentieth.");
  }

  private void compared(Page page) {
    Table table =
        Table.titled("Loss on the three stories")
            .text("norms")
            .number("loss (nats)")
            .number("added")
            .number("first other word");
    for (Comparison result : results.comparisons()) {
      table =
          table.row(
              result.change(),
              Figures.loss(result.loss()),
              Figures.added(result.added()),
              result.firstOtherWord() == 0 ? "none" : String.valueOf(result.firstOtherWord()));
    }
    page.section("What a change of all norms does")
        .paragraph(
            "The change is made after the training. So a loss says what this model does without the"
                + " norm that it was trained with. It does not say which norm is better to train"
                + " with.")
        .table(table)
        .paragraph(
            "First other word: where the greedy text leaves that of the trained model. All texts:");
    for (Comparison result : results.comparisons()) {
      page.details(result.change(), inside -> inside.paragraph(result.text()));
    }
  }
}
