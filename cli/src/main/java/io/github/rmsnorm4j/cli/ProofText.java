package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.measure.Paragraph;
import io.github.rmsnorm4j.models.rewrite.Finding;
import io.github.rmsnorm4j.models.rewrite.Proof;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Result;
import io.github.rmsnorm4j.models.rewrite.RoundingCount;
import io.github.rmsnorm4j.models.rewrite.WholeModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What a rewriting wrote and proved, as text of 80 columns. */
final class ProofText {
  private ProofText() {}

  /** What the stored types cost. */
  static List<String> rounding(Result result) {
    List<String> lines = new ArrayList<>();
    RoundingCount count = result.rounding();
    if (result.kept() > 0) {
      lines.add("finished files of an earlier run that were kept: " + result.kept());
    }
    paragraph(
        lines,
        count.computed() == 0
            ? "rounding: no number was computed"
            : count.changed() == 0
                ? String.format(
                    Locale.ROOT,
                    "rounding: all %,d computed numbers are numbers of their stored type",
                    count.computed())
                : String.format(
                    Locale.ROOT,
                    "rounding: %,d of %,d computed numbers are not numbers of their stored type and"
                        + " were rounded to it, by a share of at most %.3g",
                    count.changed(),
                    count.computed(),
                    count.largest()));
    if (count.small() > 0) {
      paragraph(
          lines,
          String.format(
              Locale.ROOT,
              "%,d of these are smaller than the normal numbers of their type: they lost digits or"
                  + " became 0, and are not in that share",
              count.small()));
    }
    return lines;
  }

  /** What was compared. */
  static List<String> proof(Optional<Proof> proof) {
    List<String> lines = new ArrayList<>();
    if (proof.isEmpty()) {
      lines.add("proof: skipped, nothing was compared (--no-verify)");
      return lines;
    }
    paragraph(
        lines,
        "proof: each difference as a share of its bound, which is what the one rounding and float64"
            + " can cause; the largest must not exceed 1");
    for (Finding finding : proof.get().findings()) {
      lines.add(
          String.format(
              Locale.ROOT,
              "  %-41s %,15d %9s",
              finding.what(),
              finding.count(),
              finding.largest() == 0
                  ? "equal"
                  : String.format(Locale.ROOT, "%.4g", finding.largest())));
      if (!finding.holds()) {
        lines.add("    too large in " + finding.where());
      }
    }
    paragraph(
        lines,
        proof
            .get()
            .whole()
            .map(ProofText::whole)
            .orElse("the whole model was not run: " + proof.get().notRun()));
    return lines;
  }

  private static String whole(WholeModel whole) {
    return String.format(
        Locale.ROOT,
        "whole model: for %d random tokens the logits, of up to %.3g, differ by at most %.3g; random"
            + " roundings of all weights move them by up to %.3g, and %d times that is the bound%s",
        whole.tokens(),
        whole.largest(),
        whole.difference(),
        whole.roundings(),
        whole.allowed(),
        whole.holds() ? "" : ", which is exceeded");
  }

  private static void paragraph(List<String> lines, String text) {
    lines.addAll(Paragraph.lines("", "  ", text));
  }
}
