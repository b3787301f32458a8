package io.github.rmsnorm4j.studies.story;

import io.github.rmsnorm4j.models.transformer.TokenText;
import io.github.rmsnorm4j.models.transformer.Tokenizer;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
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

  /** What a model with a change did. */
  private record Told(double loss, String text) {}

  /**
   * Runs the changes, several at a time where there are several processors.
   *
   * @param changes no change first
   * @param windows the sample text
   * @param listener told of each result, in the order of the changes, as soon as it is there
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
    int processors = Runtime.getRuntime().availableProcessors();
    try (ExecutorService pool = Executors.newFixedThreadPool(processors)) {
      List<CompletableFuture<Told>> all = new ArrayList<>();
      for (Change change : changes) {
        all.add(
            CompletableFuture.supplyAsync(
                () -> tell(trained, tokenizer, change, prompt, most, windows), pool));
      }
      Told first = all.getFirst().join();
      for (int i = 0; i < all.size(); i++) {
        Told told = all.get(i).join();
        Comparison result =
            new Comparison(
                changes.get(i).toString(),
                told.loss,
                told.loss - first.loss,
                firstOtherWord(words(first.text), words(told.text)),
                told.text);
        results.add(result);
        listener.accept(result);
      }
    }
    return results;
  }

  private static Told tell(
      Weights trained,
      Tokenizer tokenizer,
      Change change,
      int[] prompt,
      int most,
      List<int[]> windows) {
    try (Storyteller teller = new Storyteller(trained, change)) {
      double loss = teller.loss(windows, null);
      List<Integer> written = teller.write(prompt, most, token -> {}).tokens();
      int[] tokens =
          IntStream.concat(IntStream.of(prompt), written.stream().mapToInt(Integer::intValue))
              .toArray();
      return new Told(loss, TokenText.of(tokenizer, tokens));
    }
  }

  /** The words of the text, without what is between them. */
  static String[] words(String text) {
    return text.strip().split("\\s+");
  }

  private static int firstOtherWord(String[] one, String[] other) {
    return Arrays.mismatch(one, other) + 1;
  }
}
