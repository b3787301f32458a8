package io.github.rmsnorm4j.models.transformer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/** Continues a text with the token that the model finds likeliest, again and again. */
public final class GreedyText {
  /** Why a text ended. */
  public enum End {
    /** The model wrote {@link Tokenizer#BEGIN}: its text is complete. */
    COMPLETE,
    /** As many tokens were written as were asked for. */
    ENOUGH,
    /** The model has no more positions. */
    NO_POSITIONS,
    /** The model's logits are infinite or NaN. */
    NOT_FINITE
  }

  /**
   * A text.
   *
   * @param tokens those that were written, without the prompt
   * @param end why it ended
   */
  public record Written(List<Integer> tokens, End end) {}

  private GreedyText() {}

  /**
   * Writes a text.
   *
   * @param model made by {@link Model#continuing}; it is restarted
   * @param prompt the tokens that the text begins with, {@link Tokenizer#BEGIN} first
   * @param most tokens to write
   * @param listener told of each token as it is written
   * @return the tokens
   * @throws IllegalStateException if the prompt has more tokens than the model has positions
   */
  public static Written write(Model model, int[] prompt, int most, IntConsumer listener) {
    model.restart();
    for (int token : prompt) {
      model.forward(new int[] {token});
    }
    List<Integer> tokens = new ArrayList<>();
    while (tokens.size() < most) {
      int token = likeliest(model.logits());
      if (token < 0) {
        return new Written(tokens, End.NOT_FINITE);
      }
      if (token == Tokenizer.BEGIN) {
        return new Written(tokens, End.COMPLETE);
      }
      tokens.add(token);
      listener.accept(token);
      if (model.past() == model.positions()) {
        return new Written(tokens, End.NO_POSITIONS);
      }
      model.forward(new int[] {token});
    }
    return new Written(tokens, End.ENOUGH);
  }

  /** The first of the largest logits; -1 where one is infinite or NaN. */
  private static int likeliest(MemorySegment logits) {
    int best = 0;
    float largest = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < logits.byteSize() / Float.BYTES; i++) {
      float logit = logits.getAtIndex(ValueLayout.JAVA_FLOAT, i);
      if (!Float.isFinite(logit)) {
        return -1;
      }
      if (logit > largest) {
        best = i;
        largest = logit;
      }
    }
    return best;
  }
}
