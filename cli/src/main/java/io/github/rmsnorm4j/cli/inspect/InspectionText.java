package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.checkpoint.GainForm;
import io.github.rmsnorm4j.checkpoint.GainStatistics;
import io.github.rmsnorm4j.checkpoint.InspectedNorm;
import io.github.rmsnorm4j.checkpoint.Inspection;
import io.github.rmsnorm4j.checkpoint.ModelNorms;
import io.github.rmsnorm4j.checkpoint.NormSite;
import io.github.rmsnorm4j.measure.Paragraph;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The norms of a model as text, no wider than 80 columns. */
public final class InspectionText {
  private static final String ROW = "%9s %10s %10s %10s %6s %9s  %s";
  private static final int NAMED = 3;

  private final List<String> lines = new ArrayList<>();
  private final ModelNorms model;

  private final Prospects prospects;

  private InspectionText(ModelNorms model, Prospects prospects) {
    this.model = model;
    this.prospects = prospects;
  }

  /**
   * Makes the text.
   *
   * @param inspection the norms
   * @param prospects what fold and convert would do
   * @return lines
   */
  public static List<String> lines(Inspection inspection, Prospects prospects) {
    InspectionText text = new InspectionText(inspection.model(), prospects);
    text.model(inspection);
    for (NormGroup group : NormGroup.of(inspection.norms(), prospects)) {
      text.group(group);
    }
    return text.lines;
  }

  private void model(Inspection inspection) {
    String head =
        model.tied() ? "tied to the embedding" : model.head().isPresent() ? "stored" : "not stored";
    int norms = inspection.norms().size();
    lines.add("%s: %d norms; the head is %s".formatted(model.family(), norms, head));
    prospects.foldRefused().ifPresent(reason -> paragraph("  ", "fold: no, " + reason));
    paragraph("  ", "convert: " + prospects.convert());
    if (!model.unknown().isEmpty()) {
      paragraph(
          "  ",
          "warning: the rules of %s do not tell of %s (%s). A norm's output may go there, so"
                  .formatted(model.family(), count(model.unknown().size()), some(model.unknown()))
              + " fold and convert refuse this model; --map FILE gives rules.");
    }
  }

  private static String count(int tensors) {
    return tensors + (tensors == 1 ? " tensor" : " tensors");
  }

  private static String some(List<String> names) {
    return names.stream().limit(NAMED).collect(Collectors.joining(", "))
        + (names.size() > NAMED ? ", ..." : "");
  }

  private void group(NormGroup group) {
    NormSite site = group.first();
    lines.add("");
    lines.add(group.name());
    String stored =
        site.gain().isEmpty()
            ? "no gain"
            : "the architecture stores the gain as "
                + site.gainForm()
                + ", here in "
                + types(group);
    paragraph(
        "  ",
        "%s of %d, epsilon %s, cast order %s; %s%s"
            .formatted(
                site.kind() == NormSite.Kind.RMS ? "RMSNorm" : "LayerNorm",
                site.width(),
                epsilon(site.epsilon()),
                site.castOrder(),
                stored,
                site.bias().isPresent() ? "; with a bias" : ""));
    if (!site.consumers().isEmpty()) {
      paragraph("  ", "output goes to " + String.join(", ", group.consumers()));
    }
    String fold = group.fold(prospects);
    if (!fold.isEmpty()) {
      paragraph("  ", "fold: " + fold);
    }
    if (site.gain().isPresent()) {
      gains(group);
    }
  }

  private static String types(NormGroup group) {
    return group.norms().stream()
        .flatMap(norm -> norm.type().stream())
        .distinct()
        .collect(Collectors.joining(", "));
  }

  private void gains(NormGroup group) {
    lines.add(
        ROW.formatted("layer", "least", "mean", "greatest", "dead", "negative", "looks like"));
    List<String> doubtful = new ArrayList<>();
    for (InspectedNorm norm : group.norms()) {
      GainStatistics gain = norm.gain().orElseThrow();
      String layer = norm.site().layer() < 0 ? "" : String.valueOf(norm.site().layer());
      lines.add(
          ROW.formatted(
              layer,
              number(gain.least()),
              number(gain.mean()),
              number(gain.greatest()),
              gain.dead(),
              gain.negative(),
              gain.looksLike().map(GainForm::toString).orElse("either")
                  + (gain.nonFinite() > 0 ? ", %d not finite".formatted(gain.nonFinite()) : "")));
      if (norm.isDoubtful()) {
        doubtful.add(layer);
      }
    }
    // A few gains may look so by chance.
    if (2 * doubtful.size() > group.norms().size()) {
      warn(group, doubtful);
    }
  }

  private void warn(NormGroup group, List<String> layers) {
    GainForm form = group.first().gainForm();
    boolean all = layers.size() == group.norms().size();
    String which =
        all ? "the stored numbers look" : "the numbers of layer " + some(layers) + " look";
    paragraph(
        "  ",
        form == GainForm.G
            ? "warning: "
                + which
                + " like g - 1, but the architecture stores g. A converter to GGUF"
                + " adds the 1 of Gemma: look whether it did."
            : "warning: "
                + which
                + " like g, but the architecture stores g - 1 and adds the 1 itself."
                + " Look whether it was added already.");
  }

  private void paragraph(String indent, String text) {
    lines.addAll(Paragraph.lines(indent, indent + "  ", text));
  }

  static String number(double value) {
    return String.format(Locale.ROOT, "%.4g", value);
  }

  /** As people write it: 1e-5. */
  private static String epsilon(double value) {
    String[] parts = String.format(Locale.ROOT, "%.3e", value).split("e");
    String digits = parts[0].replaceFirst("\\.?0+$", "");
    return value == 0 ? "0" : digits + "e" + Integer.parseInt(parts[1]);
  }
}
