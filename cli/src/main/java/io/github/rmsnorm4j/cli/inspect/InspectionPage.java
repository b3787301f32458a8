package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.checkpoint.GainStatistics;
import io.github.rmsnorm4j.checkpoint.Inspection;
import io.github.rmsnorm4j.report.Axis;
import io.github.rmsnorm4j.report.Chart;
import io.github.rmsnorm4j.report.Page;
import io.github.rmsnorm4j.report.Series;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The gains of a model by depth, as a page. */
public final class InspectionPage {
  private InspectionPage() {}

  /**
   * Makes the page.
   *
   * @param inspection the norms
   * @param prospects what fold and convert would do
   * @param model the model as the user named it
   * @param command the command that was given
   * @return the page
   */
  public static Page of(Inspection inspection, Prospects prospects, String model, String command) {
    Page page = Page.titled("The norms of " + model);
    List<NormGroup> groups = NormGroup.of(inspection.norms(), prospects);
    page.lead(
        "A %s with %d norms.".formatted(inspection.model().family(), inspection.norms().size()));
    Chart chart =
        Chart.titled("Gains by depth").over(Axis.linear("layer").from(0), Axis.linear("gain g"));
    int lines = 0;
    for (NormGroup group : groups) {
      if (group.norms().size() > 1 && group.first().gain().isPresent()) {
        chart = chart.with(line(group));
        lines++;
      }
    }
    if (lines > 0) {
      page.section("Gains by depth")
          .paragraph(
              "A norm multiplies each element of its row by a learned gain. A gain of 0 takes an"
                  + " element away, and one below 0 changes its sign.")
          .chart(chart.caption("Means; the bars go from the least gain to the greatest."));
    }
    page.section("All norms")
        .code(String.join("\n", InspectionText.lines(inspection, prospects)))
        .section("To repeat it")
        .code(command);
    return page;
  }

  private static Series line(NormGroup group) {
    double[] layers = group.norms().stream().mapToDouble(norm -> norm.site().layer()).toArray();
    return Series.line(group.name(), layers, of(group, GainStatistics::mean))
        .spread(of(group, GainStatistics::least), of(group, GainStatistics::greatest));
  }

  private static double[] of(NormGroup group, ToDoubleFunction<GainStatistics> figure) {
    return group.norms().stream()
        .mapToDouble(norm -> figure.applyAsDouble(norm.gain().orElseThrow()))
        .toArray();
  }
}
