package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.studies.training.BatchSource;
import io.github.rmsnorm4j.studies.training.RecallTask;

/**
 * What is learned.
 *
 * @param name {@code recall}, or where the text is from
 * @param vocabulary how many tokens there are
 * @param pairs of the recall task; 0 for a text
 * @param sequence tokens of a sequence
 * @param characters of the text; 0 for recall
 * @param checksum CRC-32 of the text, so that a training does not go on with another
 */
public record Task(
    String name, int vocabulary, int pairs, int sequence, long characters, long checksum) {
  static final String RECALL = "recall";

  static Task recall(int vocabulary, int pairs, int sequence) {
    return new Task(RECALL, vocabulary, pairs, sequence, 0, 0);
  }

  boolean isRecall() {
    return pairs > 0;
  }

  /** Where a run's batches come from; {@code text} is null for recall. */
  BatchSource training(Corpus text, long seed) {
    return isRecall()
        ? new RecallTask(vocabulary, pairs, sequence, seed)
        : text.training(sequence, seed);
  }

  /** Batches that no training sees, the same for all. */
  BatchSource heldOut(Corpus text) {
    return isRecall() ? new RecallTask(vocabulary, pairs, sequence, -1) : text.heldOut(sequence);
  }

  /**
   * Halfway, in nats, from guessing among the values that a sequence has to knowing which is
   * wanted: below it recall is being learned. NaN for a text, which is learned gradually.
   */
  double learnedBelow() {
    return isRecall() ? Math.log(pairs) / 2 : Double.NaN;
  }

  /**
   * Halfway, in nats, from guessing among all values to guessing among those that a sequence has:
   * below it a model uses what came before. For a text three quarters of what guessing costs.
   */
  double trainedBelow() {
    return isRecall()
        ? (Math.log(vocabulary / 2.0) + Math.log(pairs)) / 2
        : 0.75 * Math.log(vocabulary);
  }

  String unit() {
    return isRecall() ? "recall accuracy" : "next-character accuracy";
  }
}
