package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.transformer.LayerwiseLogits;
import io.github.rmsnorm4j.models.transformer.MatrixChange;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.LongConsumer;

/**
 * The logits of the whole model, before and after, for random tokens, in float32.
 *
 * <p>How far roundings may move them has no formula, so it is measured: every weight of the model
 * is multiplied by 1 + u r, with a random r from -1 to 1 and u half a unit of its type, but at
 * least of float32, in which the logits are computed. The largest of {@link #DRAWS} such
 * differences times {@link #ALLOWED} is the bound.
 *
 * @param tokens how many tokens were given to both
 * @param largest the largest absolute logit
 * @param difference the largest difference of a logit
 * @param roundings the largest difference of a logit with weights that are changed at random
 */
public record LogitsProof(int tokens, double largest, double difference, double roundings) {
  /** How many times the weights are changed at random. */
  static final int DRAWS = 4;

  /** What the largest random difference is multiplied by to get the bound. */
  public static final int ALLOWED = 4;

  /**
   * How many tokens the sequence has, if the model has as many positions. Of a large model it has
   * fewer, so that one run has about {@link #PRODUCTS} products at most.
   */
  static final int TOKENS = 24;

  private static final int FEWEST = 4;
  private static final long PRODUCTS = 1L << 34;
  private static final long SEED = 20260102;

  /** {@return whether roundings cause the difference; false also if a logit is infinite or NaN} */
  public boolean holds() {
    return difference <= ALLOWED * roundings;
  }

  /** Empty if the model's own logits are not finite, so that nothing can be said. */
  static Optional<LogitsProof> compare(
      Path before, Path after, TensorFile tensors, LongConsumer progress) throws IOException {
    Map<String, ElementType> types = new HashMap<>();
    long elements = 1;
    for (Tensor tensor : tensors.tensors()) {
      tensor.dtype().elementType().ifPresent(type -> types.put(tensor.name(), type));
      elements += tensor.elements();
    }
    int most = Math.clamp(PRODUCTS / elements, FEWEST, TOKENS);
    MatrixChange none = changed(0, 0, types, progress);
    try (LayerwiseLogits model = LayerwiseLogits.open(before);
        LayerwiseLogits result = LayerwiseLogits.open(after)) {
      int count = Math.min(most, model.positions());
      int[] tokens = new Random(SEED).ints(count, 0, model.vocabulary()).toArray();
      float[] logits = model.logits(tokens, none);
      double largest = largestDifference(logits, new float[logits.length]);
      if (!Double.isFinite(largest)) {
        return Optional.empty();
      }
      double roundings = 0;
      for (int draw = 0; draw < DRAWS; draw++) {
        float[] moved = model.logits(tokens, changed(1, SEED + draw, types, progress));
        roundings = Math.max(roundings, largestDifference(logits, moved));
      }
      double difference = largestDifference(logits, result.logits(tokens, none));
      return Optional.of(new LogitsProof(count, largest, difference, roundings));
    }
  }

  /** Changes by some units; that of an element depends on its tensor and its index alone. */
  private static MatrixChange changed(
      double units, long seed, Map<String, ElementType> types, LongConsumer progress) {
    return (tensor, first, values) -> {
      ElementType type = types.getOrDefault(tensor, ElementType.FLOAT32);
      double unit = Math.max(ElementType.FLOAT32.unitRoundoff(), type.unitRoundoff()) * units;
      long stream = mix(seed + tensor.hashCode());
      for (int i = 0; i < values.length && unit > 0; i++) {
        double share = (mix(stream + first + i) >> 11) * 0x1p-52;
        values[i] = (float) (values[i] * (1 + unit * share));
      }
      progress.accept((long) values.length * type.bytes());
    };
  }

  /** The last step of SplitMix64: neighbors become unlike each other. */
  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** NaN if a difference is NaN. */
  private static double largestDifference(float[] logits, float[] others) {
    double largest = 0;
    for (int i = 0; i < logits.length; i++) {
      largest = Math.max(largest, Math.abs((double) logits[i] - others[i]));
    }
    return largest;
  }
}
