package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.measure.Paragraph;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import io.github.rmsnorm4j.models.rewrite.Goal;
import io.github.rmsnorm4j.models.rewrite.NormOutcome;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import io.github.rmsnorm4j.models.rewrite.Plan;
import io.github.rmsnorm4j.models.rewrite.Rewriting;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What a rewriting changes, as text of 80 columns. */
final class FoldText {
  private final Rewriting rewriting;
  private final boolean untie;
  private final Plan plan;

  /** With {@code untie} a tied head may become a matrix of its own. */
  FoldText(Rewriting rewriting, boolean untie) {
    this.rewriting = rewriting;
    this.untie = untie;
    this.plan = rewriting.plan();
  }

  /** What is about to change, and what is left alone. */
  List<String> plan() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s: %s norms, %s folded, %s without gain and bias, %s left alone"
            .formatted(
                rewriting.norms().family(),
                plan.norms().size(),
                count(Fate.FOLDED),
                count(Fate.PLAIN),
                count(Fate.KEPT)));
    groups()
        .forEach((text, sites) -> lines.addAll(Paragraph.lines("  ", "    ", text(text, sites))));
    if (plan.goal() == Goal.FOLD && count(Fate.FOLDED) == 0) {
      lines.add("nothing is folded: all tensors are copied as they are");
    }
    if (plan.untied()) {
      paragraph(
          lines,
          "the head is a matrix of its own now, %s; tie_word_embeddings is false"
              .formatted(rewriting.norms().ownHead()));
    }
    if (untie && !plan.untied()) {
      lines.add(
          rewriting.norms().tied()
              ? "--untie changes nothing: the last norm is not folded"
              : "--untie changes nothing: the head is not tied");
    }
    plan.modelType().ifPresent(type -> converted(lines, type));
    if (!rewriting.otherWeights().isEmpty()) {
      paragraph(
          lines,
          "other files with weights are copied as they are, without any change: "
              + String.join(", ", rewriting.otherWeights()));
    }
    if (!rewriting.folders().isEmpty()) {
      paragraph(lines, "folders are not copied: " + String.join(", ", rewriting.folders()));
    }
    return lines;
  }

  private void converted(List<String> lines, String type) {
    paragraph(
        lines,
        "all norms are RMSNorm now, with the same epsilon; %s embeddings and %s matrices that add to the residual stream are centred"
            .formatted(rewriting.norms().embeddings().size(), rewriting.norms().writers().size()));
    paragraph(
        lines,
        "model_type is %s now: %s"
            .formatted(
                type,
                rewriting.notRun().isEmpty()
                    ? "this project's transformer loads it, the classes of transformers do not"
                    : "neither this project's transformer nor the classes of transformers load it"));
  }

  private long count(Fate fate) {
    return plan.norms().stream().filter(norm -> norm.fate() == fate).count();
  }

  /** The norms that have the same place in each layer and share their fate, by that as text. */
  private Map<String, List<NormSite>> groups() {
    Map<String, List<NormSite>> groups = new LinkedHashMap<>();
    for (NormOutcome norm : plan.norms()) {
      NormSite site = norm.site();
      String fate =
          switch (norm.fate()) {
            case FOLDED ->
                "folded into "
                    + site.consumers().stream()
                        .map(consumer -> site.general(name(consumer)))
                        .distinct()
                        .collect(Collectors.joining(", "));
            case PLAIN -> norm.reason();
            case KEPT -> "left alone: " + norm.reason();
          };
      groups
          .computeIfAbsent(
              site.general(site.name()) + "\0" + site.general(fate), _ -> new ArrayList<>())
          .add(site);
    }
    return groups;
  }

  /** The matrix that takes the gain: one of its own if a head was tied. */
  private String name(Projection consumer) {
    boolean head = rewriting.norms().head().filter(consumer::equals).isPresent();
    String weight = head && plan.untied() ? rewriting.norms().ownHead() : consumer.weight();
    return weight.replaceFirst("\\.weight$", "");
  }

  private static String text(String group, List<NormSite> sites) {
    String[] parts = group.split("\0");
    return "%s%s: %s".formatted(parts[0], layers(sites), parts[1]);
  }

  private static String layers(List<NormSite> sites) {
    int first = sites.getFirst().layer();
    int last = sites.getLast().layer();
    if (first < 0) {
      return "";
    }
    if (first == last) {
      return ", N = " + first;
    }
    return last - first + 1 == sites.size()
        ? ", N = %s to %s".formatted(first, last)
        : sites.stream()
            .map(site -> String.valueOf(site.layer()))
            .collect(Collectors.joining(", ", ", N = ", ""));
  }

  private static void paragraph(List<String> lines, String text) {
    lines.addAll(Paragraph.lines("", "  ", text));
  }
}
