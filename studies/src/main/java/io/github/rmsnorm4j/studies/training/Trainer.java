package io.github.rmsnorm4j.studies.training;

import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.StepTimes;

/**
 * Takes training steps: a batch, forward, loss, backward, clipping, AdamW. After the first step the
 * memory of all of it is there, and steps allocate next to nothing.
 *
 * <pre>{@code
 * try (Trainer trainer = new Trainer(model, source, TrainingSettings.of(1000, 3e-3))) {
 *   while (trainer.step() < 1000) {
 *     double loss = trainer.takeStep();
 *   }
 * }
 * }</pre>
 *
 * <p>The same weights, source, settings and number of threads give the same bits on one machine.
 * Not for use by several threads at once. Closing gives the optimiser's memory back; model and
 * weights are their owner's.
 */
public final class Trainer implements AutoCloseable {
  private final Model model;
  private final BatchSource source;
  private final TrainingSettings settings;
  final AdamW optimiser;
  private final int[] tokens;
  private final int[] targets;
  private double gradientNorm;

  /**
   * Training from a model's weights as they are.
   *
   * @param model what is trained
   * @param source what it is trained on
   * @param settings how
   * @throws IllegalArgumentException if source and model do not fit together
   */
  public Trainer(Model model, BatchSource source, TrainingSettings settings) {
    requireFits(model, source);
    this.model = model;
    this.source = source;
    this.settings = settings;
    optimiser = new AdamW(model.weights(), settings);
    tokens = new int[model.tokensPerBatch()];
    targets = new int[tokens.length];
  }

  static void requireFits(Model model, BatchSource source) {
    if (source.sequence() != model.positions()) {
      throw new IllegalArgumentException(
          "the source's sequences have %s tokens, the model's must have as many, they have %s"
              .formatted(source.sequence(), model.positions()));
    }
    int vocabulary = model.weights().config().vocabulary();
    if (source.vocabulary() > vocabulary) {
      throw new IllegalArgumentException(
          "the source's vocabulary is %s, the model's is %s and must not be smaller"
              .formatted(source.vocabulary(), vocabulary));
    }
  }

  /**
   * Takes a step.
   *
   * @return the loss of the step's batch, before the weights changed
   * @throws DivergedException if the loss or the gradients' norm is not finite; the weights and the
   *     optimiser are then as before the step
   */
  public double takeStep() {
    StepTimes times = model.times();
    times.reset();
    long step = optimiser.step();
    double rate = settings.rateAt(step);
    source.fill(step, tokens, targets);
    model.forward(tokens);
    double loss = model.loss(targets);
    requireFinite("loss", loss, step, rate);
    model.weights().zeroGradients();
    model.backward();
    double norm = optimiser.gradientNorm();
    requireFinite("the norm of the gradients", norm, step, rate);
    gradientNorm = norm;
    optimiser.step(rate, norm > settings.clip() ? settings.clip() / norm : 1);
    times.switchTo(StepTimes.Part.REST);
    return loss;
  }

  private static void requireFinite(String what, double value, long step, double rate) {
    if (!Double.isFinite(value)) {
      throw new DivergedException(what, value, step, rate);
    }
  }

  /** {@return how many steps have been taken, those before a checkpoint among them} */
  public long step() {
    return optimiser.step();
  }

  /**
   * {@return the global norm of the last step's gradients, before they were clipped; 0 before the
   * first step}
   */
  public double gradientNorm() {
    return gradientNorm;
  }

  /** {@return where the time of the last step went, from its batch to the new weights} */
  public StepTimes times() {
    return model.times();
  }

  /** {@return what is trained: the model it was made with} */
  public Model model() {
    return model;
  }

  /** {@return how it is trained: the settings it was made with} */
  public TrainingSettings settings() {
    return settings;
  }

  /** Gives the optimiser's memory back. */
  @Override
  public void close() {
    optimiser.close();
  }
}
