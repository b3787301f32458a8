package io.github.rmsnorm4j.studies.story;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.transformer.Arithmetic;
import io.github.rmsnorm4j.models.transformer.ModelConfig;
import io.github.rmsnorm4j.models.transformer.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What all norms of the trained model are replaced by.
 *
 * @param norm which norm; null for that of the training, or none
 * @param none whether there are no norms
 * @param gain whether the trained gains are used; otherwise they are 1
 * @param type what rows are rounded to before and after each norm
 */
public record Change(NormSpec norm, boolean none, boolean gain, ElementType type) {
  /** No change. */
  public static final Change NONE = new Change(null, false, true, ElementType.FLOAT32);

  private static final List<Change> COMPARED =
      Stream.of(
              NONE,
              like("layernorm"),
              new Change(null, true, true, ElementType.FLOAT32),
              like("rmsnorm(eps=1e-5, part=1/2)"),
              like("rmsnorm(eps=1e-5, part=1/16)"),
              new Change(null, false, false, ElementType.FLOAT32),
              like("rmsnorm(eps=0)"),
              like("rmsnorm(eps=0.01)"),
              like("rmsnorm(eps=1)"),
              NONE.withRows(ElementType.BFLOAT16),
              like("llama(eps=1e-5)").withRows(ElementType.BFLOAT16),
              like("onnx").withRows(ElementType.BFLOAT16),
              NONE.withRows(ElementType.FLOAT16),
              like("llama(eps=1e-5)").withRows(ElementType.FLOAT16))
          .toList();

  private static Change like(String norm) {
    return new Change(NormSpec.parse(norm), false, true, ElementType.FLOAT32);
  }

  private Change withRows(ElementType type) {
    return new Change(norm, none, gain, type);
  }

  /** The changes that are compared, no change first, and this one if it is not among them. */
  public static List<Change> compared(Change own) {
    List<Change> all = new ArrayList<>(COMPARED);
    if (!all.contains(own)) {
      all.add(own);
    }
    return all;
  }

  /**
   * The config of the training with other norms.
   *
   * @throws IllegalArgumentException if the norm's part leaves no element of a row
   */
  public ModelConfig config(ModelConfig trained) {
    return norm == null && !none ? trained : trained.withNorm(norm);
  }

  /** The trained weights with this change, of their own memory. */
  Weights weights(Weights trained) {
    Weights weights = trained.copyFor(config(trained.config()));
    if (!gain) {
      weights.setGainsToOne();
    }
    return weights;
  }

  Arithmetic arithmetic() {
    return Arithmetic.PLAIN.withNormRows(type);
  }

  /** For example {@code llama(eps=1e-5) --type bf16}, or {@code as trained}. */
  @Override
  public String toString() {
    List<String> words = new ArrayList<>();
    if (none || norm != null) {
      words.add(none ? "none" : norm.toString());
    }
    if (!gain) {
      words.add("--gain off");
    }
    if (type != ElementType.FLOAT32) {
      words.add("--type " + type.shortName());
    }
    return words.isEmpty() ? "as trained" : String.join(" ", words);
  }
}
