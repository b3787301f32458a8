package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.models.NormSite;
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
  private static final String WITH_UNTIE =
      "only with --untie, because the head is also the token embedding";

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
    Map<String, String> fold = new HashMap<>();
    Optional<String> refused = refused(model, map, Goal.FOLD, false);
    if (refused.isEmpty()) {
      Map<String, NormOutcome> untied = outcomes(model, map, true);
      String withUntie = withUntie(model, map, Goal.FOLD);
      outcomes(model, map, false)
          .forEach((name, outcome) -> fold.put(name, text(outcome, untied.get(name), withUntie)));
    }
    Optional<String> kept = refused(model, map, Goal.CONVERT, false);
    Optional<String> never = refused(model, map, Goal.CONVERT, true);
    String convert =
        kept.isEmpty()
            ? "yes, LayerNorm can become RMSNorm"
            : never.isEmpty() ? withUntie(model, map, Goal.CONVERT) : "no, " + never.get();
    return new Prospects(fold, refused, convert);
  }

  /** The condition on which a norm before a tied head can be changed. */
  private static String withUntie(Path model, Optional<Path> map, Goal goal) throws IOException {
    try (Rewriting untied = Rewriting.open(model, map, goal, true)) {
      return WITH_UNTIE
          + untied.assumedCopy().map(head -> ", and if " + head + " is a copy of it").orElse("");
    } catch (RefusedException _) {
      return WITH_UNTIE;
    }
  }

  private static String text(NormOutcome outcome, NormOutcome untied, String withUntie) {
    return switch (outcome.fate()) {
      case FOLDED -> "yes";
      case PLAIN -> "not needed, " + outcome.reason();
      case KEPT -> untied.fate() == NormOutcome.Fate.FOLDED ? withUntie : "no, " + untied.reason();
    };
  }

  private static Map<String, NormOutcome> outcomes(Path model, Optional<Path> map, boolean untie)
      throws IOException {
    Map<String, NormOutcome> outcomes = new HashMap<>();
    try (Rewriting rewriting = Rewriting.open(model, map, Goal.FOLD, untie)) {
      rewriting.plan().norms().forEach(outcome -> outcomes.put(outcome.site().name(), outcome));
    } catch (RefusedException _) {
      // It cannot be untied; then it is folded as it is.
      return outcomes(model, map, false);
    }
    return outcomes;
  }

  private static Optional<String> refused(Path model, Optional<Path> map, Goal goal, boolean untie)
      throws IOException {
    try (Rewriting _ = Rewriting.open(model, map, goal, untie)) {
      return Optional.empty();
    } catch (RefusedException e) {
      String begin = "cannot be " + goal + ": ";
      int reason = e.getMessage().indexOf(begin);
      return Optional.of(
          reason < 0 ? e.getMessage() : e.getMessage().substring(reason + begin.length()));
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
