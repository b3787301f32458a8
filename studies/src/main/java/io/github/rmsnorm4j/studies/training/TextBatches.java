package io.github.rmsnorm4j.studies.training;

import static io.github.rmsnorm4j.models.internal.Requirement.require;

import io.github.rmsnorm4j.models.internal.SeededRandom;

/** Pieces of a text from places drawn at random; the token wanted is always the next. */
public final class TextBatches implements BatchSource {
  private final int[] text;
  private final int vocabulary;
  private final int sequence;
  private final long seed;
  private final SeededRandom random;

  /**
   * Pieces of a text.
   *
   * @param text its tokens; not copied
   * @param vocabulary how many tokens there are
   * @param sequence tokens per piece
   * @param seed of the places
   * @throws IllegalArgumentException if the text is not longer than a piece
   */
  public TextBatches(int[] text, int vocabulary, int sequence, long seed) {
    require(sequence >= 1, "sequence", sequence, "be at least 1");
    if (text.length <= sequence) {
      throw new IllegalArgumentException(
          "the text has %s tokens, for sequences of %s it must have at least %s"
              .formatted(text.length, sequence, sequence + 1L));
    }
    this.text = text;
    this.vocabulary = vocabulary;
    this.sequence = sequence;
    this.seed = seed;
    random = new SeededRandom(seed, 0);
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
    for (int to = 0; to < tokens.length; to += sequence) {
      int from = random.nextInt(text.length - sequence);
      System.arraycopy(text, from, tokens, to, sequence);
      System.arraycopy(text, from + 1, targets, to, sequence);
    }
  }
}
