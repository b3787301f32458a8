package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.backend.NormColumns;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import io.github.rmsnorm4j.internal.norm.SumsOverRows;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * The operands of a backward call, and its way from the checks to the kernels. Gain and bias are
 * those of the forward call.
 */
final class BackwardCall implements CallOperands {
  private final Norm norm;
  private final Saved saved;

  /** By the place of their tensor; null where the call has none. */
  private final @Nullable Rows[] rows;

  private ParameterGradients gradients = ParameterGradients.NONE;

  private BackwardCall(Norm norm, Saved saved, Rows dy, Rows dx, Tensor last) {
    this.norm = norm;
    this.saved = NormArguments.requireNonNull(saved, "saved");
    rows = new Rows[last.place() + 1];
    rows[Backward.DY.place()] = dy;
    rows[Backward.DX.place()] = dx;
  }

  /** A call of a norm without a gate. */
  BackwardCall(Norm norm, Saved saved, Rows dy, Rows dx) {
    this(norm, saved, dy, dx, Backward.DX);
    NormArguments.requireNoGate(norm.spec().gate(), "backwardGated");
    rows[Forward.X.place()] = saved.kept(norm);
  }

  /** A call of a norm with a gate. */
  BackwardCall(Norm norm, Saved saved, Rows dy, Rows dx, Rows dz) {
    this(norm, saved, dy, dx, Backward.DZ);
    NormArguments.requireGate(norm.spec().gate());
    Rows kept = saved.kept(norm);
    Rows z = NormArguments.requireNonNull(saved.z(), "z of saved");
    rows[Forward.X.place()] = kept;
    rows[Forward.Z.place()] = z;
    rows[Backward.DZ.place()] = NormArguments.requireNonNull(dz, "dz");
  }

  @Override
  public @Nullable Object of(CallOperand operand) {
    return switch (operand) {
      case KEPT -> rows[Forward.X.place()];
      case DRESIDUAL -> rows[Forward.RESIDUAL.place()];
      case DY -> rows[Backward.DY.place()];
      case DX -> rows[Backward.DX.place()];
      case Z -> saved.z();
      case DZ -> rows.length > Backward.DZ.place() ? rows[Backward.DZ.place()] : null;
      case GAIN -> saved.gain();
      case BIAS -> saved.bias();
      case KEPT_MEAN -> saved.mean();
      case KEPT_RSTD -> saved.rstd();
      case DGAIN -> gradients.gain();
      case DBIAS -> gradients.bias();
      default -> null;
    };
  }

  BackwardCall adding(Rows dresidual) {
    rows[Forward.RESIDUAL.place()] = NormArguments.requireNonNull(dresidual, "dresidual");
    return this;
  }

  /**
   * Does the call.
   *
   * @param given null if the gradients of gain and bias are not wanted
   */
  void run(@Nullable ParameterGradients given) {
    gradients = given == null ? ParameterGradients.NONE : given;
    BackwardArguments.check(norm, this);
    int parameters = GainAndBias.length(norm, saved.gain(), saved.bias());
    BackwardArguments.checkLengths(norm, gradients, parameters);
    compute(parameters);
  }

  /** Relies on the checks. */
  private void compute(int parameters) {
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(isOfAnyThread(), () -> compute(parameters))) {
      return;
    }
    boolean float64 = saved.kept(norm).type() == ElementType.FLOAT64;
    Staging staging = Staging.take();
    try {
      Object gain = GainAndBias.gain(norm, saved.gain(), float64, staging);
      boolean biased = saved.keep() == Keep.OUTPUT || norm.spec().gate().isAfter();
      Object bias = biased ? GainAndBias.bias(norm, saved.bias(), float64, staging) : null;
      int most = Math.max(parameters, gradients.length());
      int parts = most <= norm.groupWidth ? 1 : most / norm.groupWidth;
      boolean held = saved.gain() == null && saved.bias() == null;
      NormColumns ofNorm = held ? norm.backEndParts().columns(float64) : null;
      run(call(gain, bias, ofNorm, parts), parts);
    } finally {
      staging.giveBack();
      Reference.reachabilityFence(rows);
      Reference.reachabilityFence(saved);
    }
  }

  /**
   * The call of the kernels.
   *
   * @param gain float[] or double[] as the arithmetic is; null where there is none
   * @param bias likewise; null, too, where the formula does not need it
   * @param ofNorm the gain and bias if they are the norm's; null if they are of the forward call
   * @param parts the groups or samples that have a gain and a bias of their own; 1 if all rows and
   *     their groups share them
   */
  private Call call(
      @Nullable Object gain, @Nullable Object bias, @Nullable NormColumns ofNorm, int parts) {
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
    NormChoices choices = norm.choices(kept.type());
    double @Nullable [] @Nullable [] given = saved.numbers();
    if (parts == 1) {
      return new Call(choices, formula, memory, gain, bias, ofNorm, null, given);
    }
    GainAndBias.rows(norm, kept, parts, gain, bias, ofNorm, memory);
    return new Call(choices, formula, memory, null, null, ofNorm, null, given);
  }

  private void run(Call call, int parts) {
    boolean ofGroups = norm.groups > 1;
    try (call) {
      SumsOverRows.run(
          call,
          norm.backEndParts().backwardPlans,
          saved.kept(norm).rows() * norm.groups,
          CallMemory.isShared(call.rows()) ? norm.threads : 1,
          ofGroups ? 1 : parts,
          ofGroups ? parts : 1,
          (gain, bias, at, sample) -> gradients.take(gain, bias, at, sample, norm.width()));
    }
  }

  /** Whether other threads than the caller's may access all rows. */
  private boolean isOfAnyThread() {
    return CallMemory.isOfAnyThread(rows) && CallMemory.isOfAnyThread(saved.gain(), saved.bias());
  }
}
