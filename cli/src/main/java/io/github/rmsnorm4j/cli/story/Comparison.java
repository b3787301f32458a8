package io.github.rmsnorm4j.cli.story;

import io.github.rmsnorm4j.transformer.GreedyText;
import io.github.rmsnorm4j.transformer.TokenText;
import io.github.rmsnorm4j.transformer.Tokenizer;
import io.github.rmsnorm4j.transformer.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * What changes of the norms do to the loss and to the story.
 *
 * @param change as options
 * @param loss in nats on the sample text; NaN or infinite where the logits are
 * @param added what the change adds to the loss of the trained model
 * @param firstOtherWord where its story leaves that of the trained model, from 1 on; 0 if it does
 *     not
 * @param text its story, with the prompt
 */
public record Comparison(
    String change, double loss, double added, int firstOtherWord, String text) {

  /**
   * Runs the changes one after the other.
   *
   * @param trained the weights
   * @param tokenizer of the model
   * @param changes no change first
   * @param prompt first tokens of the stories
   * @param most tokens to write in each
   * @param windows the sample text
   * @param listener told of each result as it comes
   * @return a result for each change
   */
  public static List<Comparison> run(
      Weights trained,
      Tokenizer tokenizer,
      List<Change> changes,
      int[] prompt,
      int most,
      List<int[]> windows,
      Consumer<Comparison> listener) {
    List<Comparison> results = new ArrayList<>();
    for (Change change : changes) {
      try (Storyteller teller = new Storyteller(trained, change)) {
        double loss = teller.loss(windows, null);
        GreedyText.Written written = teller.write(prompt, most, token -> {});
        IntStream all =
            IntStream.concat(
                IntStream.of(prompt), written.tokens().stream().mapToInt(Integer::intValue));
        String text = TokenText.of(tokenizer, all.toArray());
        Comparison first = results.isEmpty() ? null : results.getFirst();
        Comparison result =
            new Comparison(
                change.toString(),
                loss,
                first == null ? 0 : loss - first.loss,
                first == null ? 0 : firstOtherWord(words(first.text), words(text)),
                text);
        results.add(result);
        listener.accept(result);
      }
    }
    return results;
  }

  /** The words of the text, without what is between them. */
  static String[] words(String text) {
    return text.strip().split("\\s+");
  }

  private static int firstOtherWord(String[] one, String[] other) {
    int at = java.util.Arrays.mismatch(one, other);
    return at + 1;
  }
}
