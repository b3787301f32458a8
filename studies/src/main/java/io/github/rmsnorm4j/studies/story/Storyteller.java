package io.github.rmsnorm4j.studies.story;

import io.github.rmsnorm4j.models.transformer.DepthObserver;
import io.github.rmsnorm4j.models.transformer.GreedyText;
import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.IntConsumer;

/** The trained model with a change of its norms. */
public final class Storyteller implements AutoCloseable {
  private final Weights weights;
  private final Model model;

  /** Makes the model; the trained weights are not changed. */
  public Storyteller(Weights trained, Change change) {
    weights = change.weights(trained);
    model = Model.continuing(weights, trained.config().maxPositions(), change.arithmetic());
  }

  /**
   * Writes a story behind the first tokens; the listener is told of each token as it is written.
   */
  public GreedyText.Written write(int[] prompt, int most, IntConsumer listener) {
    return GreedyText.write(model, prompt, most, listener);
  }

  /**
   * How well it predicts texts.
   *
   * @param windows the texts, each with the token of the beginning first
   * @param observer sees the residual stream of every token but the last of a window, one at a
   *     time; null for nobody
   * @return the mean cross-entropy of all tokens after the first of a window, in nats
   */
  public double loss(List<int[]> windows, DepthObserver observer) {
    model.observe(observer);
    double sum = 0;
    int count = 0;
    for (int[] window : windows) {
      model.restart();
      for (int i = 0; i + 1 < window.length; i++) {
        model.forward(new int[] {window[i]});
        sum += model.loss(new int[] {window[i + 1]});
        count++;
      }
    }
    model.observe(null);
    return sum / count;
  }

  /** The gain of the norm that a row first meets at a depth; there must be norms. */
  MemorySegment gain(int depth) {
    String name =
        depth < weights.config().layers()
            ? "model.layers." + depth + ".input_layernorm.weight"
            : "model.norm.weight";
    return weights.values(weights.parameter(name));
  }

  /** Gives the memory back. */
  @Override
  public void close() {
    model.close();
    weights.close();
  }
}
