package io.github.rmsnorm4j.internal.formula;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A forward pass.
 *
 * @param spec the choices of the norm; the offset is in the gain, and epsilon and part come with
 *     the call
 * @param cast the type that a normalised element is rounded to before the gain, or null
 */
public record ForwardFormula(NormSpec spec, @Nullable ElementType cast, boolean gain, boolean bias)
    implements Formula {
  private static final List<Tensor> ROWS =
      List.of(
          Forward.X,
          Forward.RESIDUAL,
          Forward.Y,
          Forward.Z,
          Forward.GAIN_OF_GROUPS,
          Forward.BIAS_OF_GROUPS);

  /**
   * The forward pass of a call.
   *
   * @param x the type of the rows
   * @param gain the type in which the caller gave the gain, null without one
   * @param bias whether there is a bias
   */
  public static ForwardFormula of(
      NormSpec spec, ElementType x, @Nullable ElementType gain, boolean bias) {
    ElementType cast =
        switch (spec.castOrder()) {
          case FLOAT32, DIVIDED, GAIN_FIRST -> null;
          case LLAMA, ONNX, ROUNDED_ROOT, NONE, NONE_DIVIDED -> x;
          case T5 -> gain;
        };
    boolean casts = cast != null && cast.bytes() == Short.BYTES && x != ElementType.FLOAT64;
    return new ForwardFormula(spec, casts ? cast : null, gain != null, bias);
  }

  @Override
  public List<Tensor> rows() {
    return ROWS;
  }

  @Override
  public Tensor output() {
    return Forward.Y;
  }

  @Override
  public Storage passing(Storage storage) {
    return spec.gate() == Gate.SILU_BEFORE ? storage.with(Forward.GATED) : storage;
  }

  @Override
  public Program program(Storage storage, int width, int part, boolean inPlace) {
    return Forward.of(storage, this, width, part, inPlace).program(width);
  }
}
