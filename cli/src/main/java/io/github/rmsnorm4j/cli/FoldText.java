package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.measure.Paragraph;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import io.github.rmsnorm4j.models.rewrite.Compared;
import io.github.rmsnorm4j.models.rewrite.LogitsProof;
import io.github.rmsnorm4j.models.rewrite.NormOutcome;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import io.github.rmsnorm4j.models.rewrite.Rewriting;
import io.github.rmsnorm4j.models.rewrite.RoundingCount;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What a rewriting changes, and what it wrote and proved, as text of 80 columns. */
final class FoldText {
  private static final Predicate<String> WEIGHTS =
      Pattern.compile(".*\\.(safetensors|bin|pt|pth|gguf|ckpt|h5|msgpack|onnx|npz)")
          .asMatchPredicate();

  final List<String> lines = new ArrayList<>();

  /** What is about to change, and what is left alone. */
  static FoldText ofPlan(Rewriting rewriting, boolean untie) {
    FoldText text = new FoldText();
    List<NormOutcome> norms = rewriting.outcomes();
    long folded = count(norms, Fate.FOLDED);
    long plain = count(norms, Fate.PLAIN);
    text.add(
        "%s: %d %s, %d folded, %d without gain and bias, %d left alone",
        rewriting.norms().family(),
        norms.size(),
        norms.size() == 1 ? "norm" : "norms",
        folded,
        plain,
        norms.size() - folded - plain);
    groups(rewriting)
        .forEach(
            (fate, sites) ->
                text.lines.addAll(
                    Paragraph.lines("  ", "    ", fate.replace("\0", layers(sites) + ": "))));
    if (rewriting.modelType().isEmpty() && folded == 0) {
      text.add("nothing is folded: all tensors are copied as they are");
    }
    if (rewriting.untied()) {
      text.add(
          "the head is a matrix of its own now, %s; tie_word_embeddings is false",
          rewriting.norms().ownHead());
    } else if (untie) {
      text.add(
          "--untie changes nothing: the %s",
          rewriting.norms().tied() ? "last norm is not folded" : "head is not tied");
    }
    rewriting.modelType().ifPresent(type -> text.addConverted(rewriting, type));
    if (!rewriting.doubtful().isEmpty()) {
      text.add(
          "warning: some gains look otherwise than %s stores them, as that of %s; rmsnorm inspect shows them",
          rewriting.norms().family(), rewriting.doubtful().getFirst().name());
    }
    if (!rewriting.copies().isEmpty()) {
      text.add(
          "two sets of the same tensors: %s is read, as transformers does; not copied, their numbers not compared: %s",
          rewriting.weights(), String.join(", ", rewriting.copies()));
    }
    List<String> weights = rewriting.otherFiles().stream().filter(WEIGHTS).toList();
    if (!weights.isEmpty()) {
      text.add(
          "other files with weights are copied as they are, without any change: %s",
          String.join(", ", weights));
    }
    if (!rewriting.folders().isEmpty()) {
      text.add("folders are not copied: %s", String.join(", ", rewriting.folders()));
    }
    return text;
  }

  private void addConverted(Rewriting rewriting, String type) {
    add(
        "all norms are RMSNorm now, with the same epsilon; %d embeddings and %d matrices that add to the residual stream are centered",
        rewriting.norms().embeddings().size(), rewriting.norms().writers().size());
    add("model_type is %s now, which transformers does not load", type);
  }

  private void add(String format, Object... arguments) {
    String text = String.format(Locale.ROOT, format, arguments);
    lines.addAll(Paragraph.lines("", "  ", text));
  }

  private static long count(List<NormOutcome> norms, Fate fate) {
    return norms.stream().filter(norm -> norm.fate() == fate).count();
  }

  /** The norms that have the same place in each layer and share their fate, by both as text. */
  private static Map<String, List<NormSite>> groups(Rewriting rewriting) {
    Map<String, List<NormSite>> groups = new LinkedHashMap<>();
    for (NormOutcome norm : rewriting.outcomes()) {
      NormSite site = norm.site();
      String fate =
          switch (norm.fate()) {
            case FOLDED ->
                "folded into "
                    + site.consumers().stream()
                        .map(consumer -> site.general(name(consumer, rewriting)))
                        .distinct()
                        .collect(Collectors.joining(", "));
            case PLAIN -> norm.reason();
            case KEPT, TIED -> "left alone: " + norm.reason();
          };
      String group = site.general(site.name()) + "\0" + site.general(fate);
      groups.computeIfAbsent(group, _ -> new ArrayList<>()).add(site);
    }
    return groups;
  }

  /** The matrix that takes the gain: one of its own if a head was tied. */
  private static String name(Projection consumer, Rewriting rewriting) {
    boolean head = rewriting.norms().head().filter(consumer::equals).isPresent();
    String weight = head && rewriting.untied() ? rewriting.norms().ownHead() : consumer.weight();
    return weight.replaceFirst("\\.weight$", "");
  }

  private static String layers(List<NormSite> sites) {
    int first = sites.getFirst().layer();
    int last = sites.getLast().layer();
    if (first < 0) {
      return "";
    }
    return ", N = "
        + (first < last && last - first + 1 == sites.size()
            ? first + " to " + last
            : sites.stream()
                .map(site -> String.valueOf(site.layer()))
                .collect(Collectors.joining(", ")));
  }

  /** What the stored types cost, and what was compared. */
  static FoldText ofResult(Rewriting.Result result) {
    FoldText text = new FoldText();
    text.addRounding(result.rounding());
    if (result.findings().isEmpty()) {
      text.add("proof: skipped, nothing was compared (--no-verify)");
    } else {
      text.addProof(result);
    }
    return text;
  }

  private void addRounding(RoundingCount count) {
    if (count.computed() == 0) {
      add("rounding: no number was computed");
    } else if (count.changed() == 0) {
      add("rounding: all %,d computed numbers are numbers of their stored type", count.computed());
    } else {
      add(
          "rounding: %,d of %,d computed numbers are not numbers of their stored type and were rounded to it, by a share of at most %.3g",
          count.changed(), count.computed(), count.largest());
    }
    if (count.small() > 0) {
      add(
          "%,d of these are smaller than the normal numbers of their type: they lost digits or became 0, and are not in that share",
          count.small());
    }
  }

  private void addProof(Rewriting.Result proof) {
    add(
        "proof: each difference as a share of its bound, which is what the one rounding and float64 can cause; the largest must not exceed 1");
    for (Compared finding : proof.findings()) {
      String share = String.format(Locale.ROOT, "%.4g", finding.largest());
      lines.add(
          String.format(
              Locale.ROOT,
              "  %-41s %,15d %9s",
              finding.what(),
              finding.count(),
              finding.largest() == 0 ? "equal" : share));
    }
    if (proof.whole().isEmpty()) {
      add("the whole model was not run: %s", proof.notRun());
      return;
    }
    LogitsProof whole = proof.whole().get();
    add(
        "whole model: for %d random tokens the logits, of up to %.3g, differ by at most %.3g; random roundings of all weights move them by up to %.3g, and %d times that is the bound%s",
        whole.tokens(),
        whole.largest(),
        whole.difference(),
        whole.roundings(),
        LogitsProof.ALLOWED,
        whole.holds() ? "" : ", which is exceeded");
  }
}
