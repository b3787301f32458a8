package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Models small enough for tests, and batches for them. */
final class Configs {
  static final int BATCH = 2;
  static final int SEQUENCE = 5;

  /** Plain products, and the fastest kernels of norms. */
  static final Arithmetic ARITHMETIC =
      new Arithmetic(MatrixProduct.PLAIN_JAVA, null, ElementType.FLOAT32);

  private Configs() {}

  static ModelConfig tiny() {
    return tiny(o -> {});
  }

  static ModelConfig tiny(Consumer<ModelOptions> choose) {
    return ModelConfig.of(
        11,
        12,
        2,
        4,
        o -> {
          o.headWidth = 4;
          o.mlpWidth = 10;
          o.initialRange = 0.3;
          choose.accept(o);
        });
  }

  static float element(Matrix matrix, int row, int column) {
    return matrix.floats().get((long) row * matrix.stride + column);
  }

  /** Every norm at every place; grouped heads, tied heads, head norms in turn. */
  static List<ModelConfig> all() {
    List<ModelConfig> all = new ArrayList<>();
    for (String norm :
        List.of("layernorm(eps=1e-3)", "rmsnorm(eps=1e-3)", "rmsnorm(eps=1e-3, part=3/10)", "")) {
      for (Placement placement : Placement.values()) {
        int i = all.size();
        all.add(
            tiny(
                o -> {
                  o.norm = norm.isEmpty() ? null : NormSpec.parse(norm);
                  o.placement = placement;
                  o.tied = i % 2 == 0;
                  o.queryKeyNorm = i / 2 % 2 == 0;
                  o.keyValueHeads = i % 3 == 0 ? 4 : i % 3;
                }));
      }
    }
    return all;
  }

  /** Weights with gains and biases that are not those of the start, which would hide mistakes. */
  static Weights weights(ModelConfig config, long seed) {
    Weights weights = new Weights(config).initialise(seed);
    SeededRandom random = new SeededRandom(seed, -1);
    for (Parameter parameter : weights.parameters()) {
      if (!parameter.isMatrix()) {
        Floats values = new Floats(weights.values(parameter));
        for (int i = 0; i < parameter.elements(); i++) {
          values.set(i, values.get(i) + (float) (0.3 * random.nextGaussian()));
        }
      }
    }
    return weights;
  }

  static int[] tokens(ModelConfig config, int count, long seed) {
    SeededRandom random = new SeededRandom(seed, 1);
    int[] tokens = new int[count];
    for (int i = 0; i < count; i++) {
      tokens[i] = random.nextInt(config.vocabulary());
    }
    return tokens;
  }

  /** One in four wants nothing. */
  static int[] targets(ModelConfig config, int count, long seed) {
    int[] targets = tokens(config, count, seed + 1);
    for (int i = 0; i < count; i += 4) {
      targets[i] = -1;
    }
    return targets;
  }
}
