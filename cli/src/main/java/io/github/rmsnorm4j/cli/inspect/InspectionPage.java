package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.rewrite.Prospects;
import io.github.rmsnorm4j.report.Page;
import io.github.rmsnorm4j.report.Table;
import java.util.ArrayList;
import java.util.List;

/** The norms of a model, with a chart of their gains by depth, as a page. */
public final class InspectionPage {
  private InspectionPage() {}

  /** Makes the page of a model as the user named it. */
  public static Page of(Inspection inspection, Prospects prospects, String model, String command) {
    List<NormGroup> groups = NormGroup.of(inspection.norms(), prospects);
    Page page =
        Page.titled("The norms of " + model)
            .lead(
                "%s with %s; %s."
                    .formatted(
                        InspectionText.family(inspection),
                        InspectionText.count(inspection.norms().size(), "norm"),
                        InspectionText.head(inspection.model())))
            .list(InspectionText.facts(inspection, prospects));
    DepthChart.of(groups)
        .ifPresent(
            chart ->
                page.section("Gains by depth")
                    .paragraph(
                        "A norm multiplies each element of its row by a learned gain. A gain of 0"
                            + " takes an element away, and one below 0 changes its sign.")
                    .chart(chart));
    groups.forEach(group -> add(page, new GroupText(group)));
    return page.section("To repeat it").code(command);
  }

  private static void add(Page page, GroupText group) {
    List<String> facts = new ArrayList<>(group.facts());
    facts.add("in Java: " + String.join("", group.java()));
    page.section(group.name()).list(facts);
    List<List<String>> rows = group.rows();
    if (!rows.isEmpty()) {
      Table table = Table.titled("");
      for (String column : GroupText.COLUMNS.subList(0, GroupText.COLUMNS.size() - 1)) {
        table = table.number(column);
      }
      table = table.text(GroupText.COLUMNS.getLast());
      for (List<String> row : rows) {
        table = table.row(row.toArray(String[]::new));
      }
      page.table(table);
    }
    group.warning().ifPresent(page::paragraph);
  }
}
