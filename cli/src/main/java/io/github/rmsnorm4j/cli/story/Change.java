package io.github.rmsnorm4j.cli.story;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.transformer.Arithmetic;
import io.github.rmsnorm4j.transformer.ModelConfig;
import io.github.rmsnorm4j.transformer.NormKind;
import io.github.rmsnorm4j.transformer.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What all norms of the trained model are replaced by.
 *
 * @param norm which norm
 * @param share the share p of a partial norm; 1 for others
 * @param epsilon of every norm, null for that of the training
 * @param gain whether the trained gains are used; otherwise they are 1
 * @param type what rows are rounded to before and after each norm
 * @param castOrder where the norms round on their way
 */
public record Change(
    NormKind norm,
    double share,
    Double epsilon,
    boolean gain,
    ElementType type,
    CastOrder castOrder) {
  /** No change. */
  public static final Change NONE =
      new Change(NormKind.RMS_NORM, 1, null, true, ElementType.FLOAT32, CastOrder.FLOAT32);

  private static final List<Change> COMPARED =
      List.of(
          NONE,
          NONE.withNorm(NormKind.LAYER_NORM, 1),
          NONE.withNorm(NormKind.NONE, 1),
          NONE.withNorm(NormKind.PARTIAL_RMS_NORM, 0.5),
          NONE.withNorm(NormKind.PARTIAL_RMS_NORM, 0.0625),
          new Change(NormKind.RMS_NORM, 1, null, false, ElementType.FLOAT32, CastOrder.FLOAT32),
          NONE.withEpsilon(0),
          NONE.withEpsilon(0.01),
          NONE.withEpsilon(1),
          NONE.withRows(ElementType.BFLOAT16, CastOrder.FLOAT32),
          NONE.withRows(ElementType.BFLOAT16, CastOrder.LLAMA),
          NONE.withRows(ElementType.BFLOAT16, CastOrder.ONNX),
          NONE.withRows(ElementType.FLOAT16, CastOrder.FLOAT32),
          NONE.withRows(ElementType.FLOAT16, CastOrder.LLAMA));

  private Change withNorm(NormKind norm, double share) {
    return new Change(norm, share, epsilon, gain, type, castOrder);
  }

  private Change withEpsilon(double epsilon) {
    return new Change(norm, share, epsilon, gain, type, castOrder);
  }

  private Change withRows(ElementType type, CastOrder order) {
    return new Change(norm, share, epsilon, gain, type, order);
  }

  /**
   * The changes that are compared.
   *
   * @param own a change that is compared as well, if it is not among them
   * @return no change first
   */
  public static List<Change> compared(Change own) {
    List<Change> all = new ArrayList<>(COMPARED);
    if (!all.contains(own)) {
      all.add(own);
    }
    return all;
  }

  /** The trained weights with this change, of their own memory. */
  Weights weights(Weights trained) {
    ModelConfig config = trained.config();
    double eps = epsilon == null ? config.normEpsilon() : epsilon;
    Weights weights = trained.copyFor(config.withNorm(norm, share, eps));
    if (!gain) {
      weights.setGainsToOne();
    }
    return weights;
  }

  Arithmetic arithmetic() {
    return Arithmetic.PLAIN.withNormRows(type, castOrder);
  }

  /** The options that ask for it, or {@code as trained}. */
  @Override
  public String toString() {
    List<String> options = new ArrayList<>();
    switch (norm) {
      case RMS_NORM -> {}
      case LAYER_NORM -> options.add("--norm layer");
      case NONE -> options.add("--norm none");
      case PARTIAL_RMS_NORM -> options.add("--norm partial:" + shown(share));
    }
    if (epsilon != null) {
      options.add("--eps " + shown(epsilon));
    }
    if (!gain) {
      options.add("--gain off");
    }
    if (type != ElementType.FLOAT32) {
      options.add("--type " + type.shortName());
    }
    if (castOrder != CastOrder.FLOAT32) {
      options.add("--cast-order " + castOrder.name().toLowerCase(Locale.ROOT));
    }
    return options.isEmpty() ? "as trained" : String.join(" ", options);
  }

  private static String shown(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e6
        ? String.valueOf((long) value)
        : String.valueOf(value);
  }
}
