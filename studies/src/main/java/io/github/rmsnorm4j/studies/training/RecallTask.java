package io.github.rmsnorm4j.studies.training;

import static io.github.rmsnorm4j.models.internal.Requirement.require;

import io.github.rmsnorm4j.models.internal.SeededRandom;
import java.util.Arrays;

/**
 * Associative recall, which attention learns in a jump: a sequence begins with pairs of key and
 * value; later each key comes once more, and its value is wanted there.
 *
 * <p>After the task multi-query associative recall of Arora et al., "Zoology: Measuring and
 * Improving Recall in Efficient Language Models", 2023. Keys are tokens from 1 to below V/2, values
 * from V/2 on, none twice in a sequence. Keys return at even distances behind the pairs, drawn
 * without replacement with probabilities proportional to {@code i^(a - 1)}, a = 0.01, i being half
 * the distance: most soon, some late. Every other place has a token at random, and nothing is
 * wanted there.
 */
public final class RecallTask implements BatchSource {
  private static final double POWER = 0.01;

  private final int vocabulary;
  private final int pairs;
  private final int sequence;
  private final long seed;
  private final SeededRandom random;
  private final int[] keys;
  private final int[] values;
  private final double[] probabilities;
  private final boolean[] taken;

  /**
   * Sequences of the task.
   *
   * @param vocabulary how many tokens there are, V; even
   * @param pairs how many pairs a sequence begins with; at most a quarter of its length
   * @param sequence tokens per sequence; even
   * @param seed of all that is drawn
   * @throws IllegalArgumentException if the numbers do not fit together
   */
  public RecallTask(int vocabulary, int pairs, int sequence, long seed) {
    require(pairs >= 1, "pairs", pairs, "be at least 1");
    require(sequence % 2 == 0, "sequence", sequence, "be even");
    require(pairs <= sequence / 4, "pairs", pairs, "be at most a quarter of " + sequence);
    require(vocabulary % 2 == 0, "vocabulary", vocabulary, "be even");
    require(
        vocabulary / 2 > pairs, "vocabulary", vocabulary, "be more than twice the pairs, " + pairs);
    this.vocabulary = vocabulary;
    this.pairs = pairs;
    this.sequence = sequence;
    this.seed = seed;
    random = new SeededRandom(seed, 0);
    keys = new int[vocabulary / 2 - 1];
    values = new int[vocabulary / 2];
    probabilities = new double[(sequence - 2 * pairs) / 2];
    taken = new boolean[probabilities.length];
    for (int i = 0; i < probabilities.length; i++) {
      probabilities[i] = StrictMath.pow(i + 1.0, POWER - 1);
    }
  }

  @Override
  public int vocabulary() {
    return vocabulary;
  }

  @Override
  public int sequence() {
    return sequence;
  }

  @Override
  public void fill(long step, int[] tokens, int[] targets) {
    random.reset(seed, step);
    // Each batch from the same order, or it would depend on the batches before it.
    for (int i = 0; i < keys.length; i++) {
      keys[i] = i + 1;
    }
    for (int i = 0; i < values.length; i++) {
      values[i] = vocabulary / 2 + i;
    }
    for (int first = 0; first < tokens.length; first += sequence) {
      fillSequence(tokens, targets, first);
    }
  }

  private void fillSequence(int[] tokens, int[] targets, int first) {
    for (int t = 0; t < sequence; t++) {
      tokens[first + t] = random.nextInt(vocabulary);
      targets[first + t] = -1;
    }
    drawToFront(keys);
    drawToFront(values);
    Arrays.fill(taken, false);
    for (int pair = 0; pair < pairs; pair++) {
      tokens[first + 2 * pair] = keys[pair];
      tokens[first + 2 * pair + 1] = values[pair];
      int again = first + 2 * pairs + 2 * drawPlace();
      tokens[again] = keys[pair];
      targets[again] = values[pair];
    }
  }

  /** As many as there are pairs, none twice. */
  private void drawToFront(int[] from) {
    for (int i = 0; i < pairs; i++) {
      int j = i + random.nextInt(from.length - i);
      int drawn = from[j];
      from[j] = from[i];
      from[i] = drawn;
    }
  }

  private int drawPlace() {
    double left = 0;
    for (int i = 0; i < taken.length; i++) {
      left += taken[i] ? 0 : probabilities[i];
    }
    double at = random.nextDouble() * left;
    int place = -1;
    for (int i = 0; i < taken.length && at >= 0; i++) {
      if (!taken[i]) {
        place = i;
        at -= probabilities[i];
      }
    }
    taken[place] = true;
    return place;
  }
}
