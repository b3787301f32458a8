package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

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
    try (Rewriting rewriting = Rewriting.open(model, new Wish(Goal.FOLD, map, false, true))) {
      boolean shifted = rewriting.doubts.areShifted();
      Map<String, String> texts = new HashMap<>();
      for (NormOutcome norm : rewriting.outcomes()) {
        boolean trust = shifted && rewriting.doubtful().contains(norm.site());
        texts.put(
            norm.site().name(),
            switch (norm.fate()) {
              case FOLDED -> trust ? "only with --trust-gains" : "yes";
              case PLAIN -> "not needed, " + norm.reason();
              case KEPT -> "no, " + norm.reason();
              case TIED -> untie(rewriting);
            });
      }
      return new Prospects(texts, Optional.empty(), convert);
    } catch (RefusedException e) {
      return new Prospects(Map.of(), Optional.of(e.reason()), convert);
    }
  }

  private static String untie(Rewriting rewriting) {
    return "only with --untie, because the head is also the token embedding"
        + rewriting.plan.storedHead.map(head -> ", and if " + head + " is a copy of it").orElse("");
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
