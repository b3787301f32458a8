package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Dtype;
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
 * Compares the logits of the whole model with those of the result, for random tokens, in float32.
 *
 * <p>How far roundings may move them has no formula, so it is measured: every weight of the model
 * is multiplied by 1 + u r, with a random r from -1 to 1 and u half a unit of its type, but at
 * least of float32, in which the logits are computed. The largest of {@link #DRAWS} such
 * differences times {@link #ALLOWED} is the bound.
 */
final class LogitsProof {
  /**
   * How many tokens the sequence has, if the model has as many positions. Of a large model it has
   * fewer, down to {@link #FEWEST}, so that one run has about {@link #PRODUCTS} products at most.
   */
  static final int TOKENS = 24;

  private static final int FEWEST = 4;
  private static final long PRODUCTS = 1L << 34;

  /** How many times the weights are changed at random. */
  static final int DRAWS = 4;

  /** What the largest random difference is multiplied by to get the bound. */
  static final int ALLOWED = 4;

  private static final long SEED = 20260102;

  private final Map<String, Dtype> types = new HashMap<>();
  private final int most;
  private final LongConsumer progress;

  /** The types are those of the model, and with them the sizes of roundings. */
  LogitsProof(TensorFile tensors, LongConsumer progress) {
    long elements = 1;
    for (Tensor tensor : tensors.tensors()) {
      types.put(tensor.name(), tensor.dtype());
      elements += tensor.elements();
    }
    this.most = Math.clamp(PRODUCTS / elements, FEWEST, TOKENS);
    this.progress = progress;
  }

  /** Empty if the model's own logits are not finite, so that nothing can be said. */
  Optional<WholeModel> compare(Path before, Path after) throws IOException {
    int[] tokens;
    float[] logits;
    double roundings = 0;
    try (LayerwiseLogits model = LayerwiseLogits.open(before)) {
      tokens = tokens(Math.min(most, model.positions()), model.vocabulary());
      logits = model.logits(tokens, read(MatrixChange.NONE));
      if (!Double.isFinite(largestDifference(logits, new float[logits.length]))) {
        return Optional.empty();
      }
      for (int draw = 0; draw < DRAWS; draw++) {
        float[] moved = model.logits(tokens, read(rounded(SEED + draw)));
        roundings = Math.max(roundings, largestDifference(logits, moved));
      }
    }
    try (LayerwiseLogits result = LayerwiseLogits.open(after)) {
      float[] others = result.logits(tokens, read(MatrixChange.NONE));
      return Optional.of(
          new WholeModel(
              tokens.length,
              largestDifference(logits, new float[logits.length]),
              largestDifference(logits, others),
              roundings,
              ALLOWED));
    }
  }

  private static int[] tokens(int count, int vocabulary) {
    return new Random(SEED).ints(count, 0, vocabulary).toArray();
  }

  private MatrixChange read(MatrixChange change) {
    return (tensor, first, values) -> {
      change.change(tensor, first, values);
      progress.accept((long) values.length * types.getOrDefault(tensor, Dtype.F32).bits() / 8);
    };
  }

  /** The change of an element depends on its tensor and its index alone. */
  private MatrixChange rounded(long seed) {
    return (tensor, first, values) -> {
      ElementType type = types.get(tensor).elementType().orElseThrow();
      double unit = Math.max(ElementType.FLOAT32.unitRoundoff(), type.unitRoundoff());
      long stream = mix(seed + tensor.hashCode());
      for (int i = 0; i < values.length; i++) {
        double share = (mix(stream + first + i) >> 11) * 0x1p-52;
        values[i] = (float) (values[i] * (1 + unit * share));
      }
    };
  }

  /** The last step of SplitMix64: neighbours become unlike each other. */
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
