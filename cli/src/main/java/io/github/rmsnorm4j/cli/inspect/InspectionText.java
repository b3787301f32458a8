package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.measure.Paragraph;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.rewrite.Prospects;
import java.util.ArrayList;
import java.util.List;

/** The norms of a model as text, no wider than 80 columns. */
public final class InspectionText {
  private static final String ROW = "%9s %10s %10s %10s %6s %9s  %s";

  private static final int WIDTH = 80;

  private final List<String> lines = new ArrayList<>();

  private InspectionText() {}

  /** Makes the text. */
  public static List<String> lines(Inspection inspection, Prospects prospects) {
    InspectionText text = new InspectionText();
    int norms = inspection.norms().size();
    text.lines.add(
        "%s: %s; %s".formatted(family(inspection), count(norms, "norm"), head(inspection.model())));
    facts(inspection, prospects).forEach(text::paragraph);
    for (NormGroup group : NormGroup.of(inspection.norms(), prospects)) {
      text.group(new GroupText(group));
    }
    return text.lines;
  }

  static String family(Inspection inspection) {
    return Printable.escaped(inspection.model().family());
  }

  static String head(ModelNorms model) {
    return "the head is "
        + (model.tied()
            ? "tied to the embedding"
            : model.head().isPresent() ? "stored" : "not stored");
  }

  /** What can be done with the model as a whole. */
  static List<String> facts(Inspection inspection, Prospects prospects) {
    ModelNorms model = inspection.model();
    List<String> facts = new ArrayList<>(inspection.remarks());
    prospects.foldRefused().ifPresent(reason -> facts.add("fold: no, " + reason));
    facts.add("convert: " + prospects.convert());
    if (!model.unknown().isEmpty()) {
      facts.add(
          "warning: the rules of %s do not cover %s (%s). A norm's output may go there, so"
                  .formatted(
                      model.family(),
                      count(model.unknown().size(), "tensor"),
                      GroupText.some(model.unknown()))
              + " fold and convert refuse this model; --map FILE gives rules.");
    }
    return facts.stream().map(Printable::escaped).toList();
  }

  static String count(int number, String of) {
    return number + " " + of + (number == 1 ? "" : "s");
  }

  private void group(GroupText group) {
    lines.add("");
    lines.add(group.name());
    group.facts().forEach(this::paragraph);
    String java = "  in Java: " + String.join("", group.java());
    lines.addAll(
        java.length() < WIDTH
            ? List.of(java)
            : List.of("  in Java: " + group.java().getFirst(), "    " + group.java().getLast()));
    List<List<String>> rows = group.rows();
    if (!rows.isEmpty()) {
      lines.add(ROW.formatted(GroupText.COLUMNS.toArray()));
      rows.forEach(row -> lines.add(ROW.formatted(row.toArray())));
    }
    group.warning().ifPresent(this::paragraph);
  }

  private void paragraph(String text) {
    lines.addAll(Paragraph.lines("  ", "    ", text));
  }
}
