package io.github.rmsnorm4j.studies.training;

import static io.github.rmsnorm4j.models.internal.Requirement.require;

import io.github.rmsnorm4j.models.transformer.Model;

/**
 * How good a model is on batches it is not trained on.
 *
 * @param loss mean over the batches of the cross-entropy, in nats
 * @param correct for how many targets the largest logit was the right one
 * @param targets how many tokens were asked for
 */
public record Evaluation(double loss, long correct, long targets) {
  /**
   * Runs a model on batches, forward only.
   *
   * @param model the model
   * @param source of the batches
   * @param first the source's step of the first batch
   * @param batches how many; 1 or more
   * @return what came out
   * @throws IllegalArgumentException if batches is below 1, or source and model do not fit together
   */
  public static Evaluation of(Model model, BatchSource source, long first, int batches) {
    require(batches >= 1, "batches", batches, "be at least 1");
    Trainer.requireFits(model, source);
    int[] tokens = new int[model.tokensPerBatch()];
    int[] wanted = new int[tokens.length];
    double loss = 0;
    long correct = 0;
    long targets = 0;
    for (int i = 0; i < batches; i++) {
      source.fill(first + i, tokens, wanted);
      model.forward(tokens);
      loss += model.loss(wanted);
      correct += model.correct();
      targets += model.targets();
    }
    return new Evaluation(loss / batches, correct, targets);
  }

  /** {@return the share of targets that were right, 0 to 1} */
  public double accuracy() {
    return (double) correct / targets;
  }
}
