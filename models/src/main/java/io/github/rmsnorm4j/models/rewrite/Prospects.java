package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What {@code fold} and {@code convert} would do with a model.
 *
 * @param fold what becomes of each norm, by its name, as the end of the line "fold: ..."
 * @param foldRefused why nothing can be folded; empty if some norms can, or need not
 * @param convert whether LayerNorm can be replaced, as the end of the line "convert: ..."
 */
public record Prospects(Map<String, String> fold, Optional<String> foldRefused, String convert) {
  private static final String ONLY_READ = "only a folder of Hugging Face can be rewritten";

  /**
   * Asks both for their plans, which read no matrix.
   *
   * @param model its folder or file
   * @param map the user's rules, if there are some
   * @return what they would do
   * @throws IOException if the model cannot be read
   */
  public static Prospects of(Path model, Optional<Path> map) throws IOException {
    if (!Files.isDirectory(model)) {
      return new Prospects(Map.of(), Optional.of(ONLY_READ), "no, " + ONLY_READ);
    }
    String convert;
    try (Rewriting rewriting = Rewriting.open(model, new Wish(Goal.CONVERT, map, true, true))) {
      convert = rewriting.untied() ? untie(rewriting) : "yes, LayerNorm can become RMSNorm";
    } catch (RefusedException e) {
      convert = "no, " + e.reason();
    }
    RefusedException refused = null;
    // A model that cannot be untied is folded as it is.
    for (boolean untie : new boolean[] {true, false}) {
      try (Rewriting rewriting = Rewriting.open(model, new Wish(Goal.FOLD, map, untie, true))) {
        return new Prospects(fold(rewriting), Optional.empty(), convert);
      } catch (RefusedException e) {
        refused = e;
      }
    }
    return new Prospects(Map.of(), Optional.of(refused.reason()), convert);
  }

  private static Map<String, String> fold(Rewriting rewriting) {
    Predicate<NormSite> ofTied =
        site ->
            rewriting.untied() && site.consumers().contains(rewriting.norms().head().orElseThrow());
    List<NormSite> doubtful = rewriting.doubtful().stream().filter(ofTied.negate()).toList();
    boolean shifted = rewriting.isShifted(doubtful);
    Map<String, String> texts = new HashMap<>();
    for (NormOutcome norm : rewriting.outcomes()) {
      String folded =
          ofTied.test(norm.site())
              ? untie(rewriting)
              : shifted && doubtful.contains(norm.site()) ? "only with --trust-gains" : "yes";
      texts.put(
          norm.site().name(),
          switch (norm.fate()) {
            case FOLDED -> folded;
            case PLAIN -> "not needed, " + norm.reason();
            case KEPT -> "no, " + norm.reason();
          });
    }
    return texts;
  }

  private static String untie(Rewriting rewriting) {
    return "only with --untie, because the head is also the token embedding"
        + rewriting.assumedCopy().map(head -> ", and if " + head + " is a copy of it").orElse("");
  }

  /**
   * {@return what becomes of a norm; empty if nothing can be folded}
   *
   * @param site the norm
   */
  public Optional<String> of(NormSite site) {
    return Optional.ofNullable(fold.get(site.name()));
  }
}
