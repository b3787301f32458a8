package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.rewrite.NormOutcome.Fate;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
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
    Answer fold = Answer.of(model, new Wish(Goal.FOLD, map, false, true));
    Answer untied = Answer.of(model, new Wish(Goal.FOLD, map, true, true));
    Map<String, String> texts = new HashMap<>();
    for (int i = 0; i < fold.norms.size(); i++) {
      NormOutcome norm = fold.norms.get(i);
      // A model that cannot be untied is folded as it is.
      NormOutcome other = untied.norms.isEmpty() ? norm : untied.norms.get(i);
      texts.put(
          norm.site().name(),
          switch (norm.fate()) {
            case FOLDED -> fold.doubtful.contains(norm.site()) ? "only with --trust-gains" : "yes";
            case PLAIN -> "not needed, " + norm.reason();
            case KEPT -> other.fate() == Fate.FOLDED ? untied.untie : "no, " + other.reason();
          });
    }
    boolean tied = Answer.of(model, new Wish(Goal.CONVERT, map, false, true)).refused.isEmpty();
    Answer convert = Answer.of(model, new Wish(Goal.CONVERT, map, true, true));
    return new Prospects(
        texts,
        fold.refused,
        tied
            ? "yes, LayerNorm can become RMSNorm"
            : convert.refused.map(reason -> "no, " + reason).orElse(convert.untie));
  }

  /** The answer to a wish: why it is refused, or else what happens, and how a head is untied. */
  private record Answer(
      Optional<String> refused, List<NormOutcome> norms, List<NormSite> doubtful, String untie) {
    static Answer of(Path model, Wish wish) throws IOException {
      try (Rewriting rewriting = Rewriting.open(model, wish)) {
        String copy =
            rewriting.assumedCopy().map(head -> ", and if " + head + " is a copy of it").orElse("");
        String untie = "only with --untie, because the head is also the token embedding" + copy;
        List<NormSite> doubtful = rewriting.isShifted() ? rewriting.doubtful() : List.of();
        return new Answer(Optional.empty(), rewriting.outcomes(), doubtful, untie);
      } catch (RefusedException e) {
        String reason = e.getMessage().replaceFirst(".*?cannot be " + wish.goal() + ": ", "");
        return new Answer(Optional.of(reason), List.of(), List.of(), "");
      }
    }
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
