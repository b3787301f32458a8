package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.NormColumns;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.norm.SumsOverRows;
import org.jspecify.annotations.Nullable;

/** Backward passes of checked rows. */
final class BackwardRun {
  private BackwardRun() {}

  /**
   * Runs a backward pass.
   *
   * @param rows by the place of their tensor; null where there are none
   * @param gain float[] or double[] as the arithmetic is; null where there is none, or the formula
   *     does not need it
   * @param bias likewise
   * @param ofNorm the gain and bias if they are the norm's; null if they are of the call
   * @param parts the groups or samples that have a gain and a bias of their own; 1 if all rows and
   *     their groups share them
   */
  static void run(
      Norm norm,
      @Nullable Rows[] rows,
      Saved saved,
      ParameterGradients gradients,
      @Nullable Object gain,
      @Nullable Object bias,
      @Nullable NormColumns ofNorm,
      int parts) {
    BackwardFormula formula =
        new BackwardFormula(
            norm.spec(),
            saved.keep() == Keep.OUTPUT,
            saved.numbers() != null,
            gain != null,
            bias != null,
            gradients.gain() != null,
            gradients.bias() != null);
    @Nullable RowMemory[] memory =
        new RowMemory[parts == 1 ? rows.length : Tensor.Access.ELEMENT.places()];
    for (int place = 0; place < rows.length; place++) {
      Rows of = rows[place];
      memory[place] = of == null ? null : norm.backEndParts().memory.of(of, norm.groups);
    }
    Rows kept = saved.kept(norm);
    if (parts > 1) {
      GainAndBias.rows(norm, kept, parts, gain, bias, ofNorm, memory);
    }
    Call call =
        new Call(
            norm.choices(kept.type()),
            formula,
            memory,
            parts > 1 ? null : gain,
            parts > 1 ? null : bias,
            ofNorm,
            null,
            saved.numbers());
    run(norm, call, kept.rows() * norm.groups, gradients, parts);
  }

  private static void run(
      Norm norm, Call call, long rows, ParameterGradients gradients, int parts) {
    int threads = CallMemory.isShared(call.rows()) ? norm.threads : 1;
    int groups = norm.groups > 1 ? parts : 1;
    int samples = norm.groups > 1 ? 1 : parts;
    try (call) {
      SumsOverRows.run(
          call,
          norm.backEndParts().backwardPlans,
          rows,
          threads,
          samples,
          groups,
          (gain, bias, at, sample) -> gradients.take(gain, bias, at, sample, norm.width()));
    }
  }
}
