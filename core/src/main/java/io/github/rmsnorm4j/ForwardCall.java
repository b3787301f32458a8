package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.NormColumns;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.Staging;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardPhase.Phase;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import io.github.rmsnorm4j.internal.norm.QuantizedRunner;
import io.github.rmsnorm4j.internal.norm.Runner;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import io.github.rmsnorm4j.internal.quantized.QuantizedChunks;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * The operands of a forward call, and its way from the checks to the kernels. It serves one call of
 * one thread.
 */
final class ForwardCall implements CallOperands {
  final Norm norm;
  final Rows x;

  /** Null where the output is not stored. */
  final @Nullable Rows y;

  @Nullable Rows residual;
  @Nullable Rows z;

  /** The gain of the caller; null for the norm's own. */
  @Nullable Rows gain;

  /** The bias of the caller; null for the norm's own. */
  @Nullable Rows bias;

  /** Null where the output does not become codes. */
  private @Nullable QuantizedRows q;

  double @Nullable [] mean;
  double @Nullable [] rstd;

  /** A call with the gain and bias that the norm has. */
  ForwardCall(Norm norm, Rows x, @Nullable Rows y) {
    this.norm = norm;
    this.x = x;
    this.y = y;
    gain = norm.givenGain;
    bias = norm.givenBias;
  }

  /** Whether it has x, y and perhaps a residual, and nothing else. */
  boolean isPlain() {
    boolean stores = z == null && q == null && mean == null && rstd == null;
    return stores && gain == null && bias == null;
  }

  @Override
  public @Nullable Object of(CallOperand operand) {
    return switch (operand) {
      case X -> x;
      case RESIDUAL -> residual;
      case Z -> z;
      case Y -> y;
      case GAIN -> gain;
      case BIAS -> bias;
      case Q -> q;
      case LENGTH -> norm.spec().isOfLength() ? mean : null;
      case MEAN -> norm.spec().isOfLength() ? null : mean;
      case RSTD -> rstd;
      default -> null;
    };
  }

  ForwardCall adding(Rows residual) {
    this.residual = NormArguments.requireNonNull(residual, "residual");
    return this;
  }

  ForwardCall gated(Rows z) {
    this.z = NormArguments.requireNonNull(z, "z");
    return this;
  }

  /** With a gain and a bias of this call; null for what the norm has. */
  ForwardCall with(@Nullable Rows gain, @Nullable Rows bias) {
    this.gain = gain == null ? this.gain : gain;
    this.bias = bias == null ? this.bias : bias;
    return this;
  }

  /** Where the statistics of rows go; null where they are not wanted. */
  ForwardCall keeping(double @Nullable [] mean, double @Nullable [] rstd) {
    this.mean = mean;
    this.rstd = rstd;
    return this;
  }

  /** With codes for the output. */
  ForwardCall to(QuantizedRows q) {
    this.q = NormArguments.requireNonNull(q, "q");
    return this;
  }

  /** A call that keeps nothing for a backward pass. */
  void run() {
    ForwardArguments.check(this);
    compute();
  }

  /** A call that keeps what its backward pass needs. */
  void keep(Saved saved) {
    ForwardArguments.checkKept(this, saved, "saved", true);
    begin(saved);
    compute();
    end(saved);
  }

  /** After all checks; what was kept before is lost. */
  void begin(Saved saved) {
    saved.begin(norm, norm.groups, norm.spec().isCentred());
    keeping(saved.mean(), saved.rstd());
  }

  /** When the rows are written. */
  void end(Saved saved) {
    Rows input = residual == null ? x : residual;
    saved.end(saved.keep() == Keep.OUTPUT ? y : input, z, gain, bias);
  }

  /** A call whose output becomes codes. */
  void quantize(QuantizedRows q) {
    ForwardArguments.check(to(q));
    if (x.rows() > 0) {
      computeCodes(q);
    }
  }

  private void computeCodes(QuantizedRows q) {
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(
            isOfAnyThread() && CallMemory.isOfAnyThread(q), () -> computeCodes(q))) {
      return;
    }
    CodeRule rule = norm.quantizer().rule();
    FirstTier first = norm.first;
    if (first != null && y == null && first.quantize(x, residual, q.memory(), rule)) {
      return;
    }
    boolean rounds = norm.quantizer().roundsOutput() && x.type() != ElementType.FLOAT64;
    ElementType type = rounds ? x.type() : ElementType.FLOAT32;
    BackEndParts parts = norm.backEndParts();
    int bits = parts.plans.machineBits(x.rows() * norm.width(), q.memory(), rule);
    RowMemory output =
        y == null
            ? QuantizedChunks.any(type, q.memory(), rule, bits)
            : parts.memory.of(y, norm.groups);
    Staging staging = staging();
    try (Call call = call(output, staging)) {
      boolean shared = CallMemory.isShared(call.rows()) && CallMemory.isOfAnyThread(q);
      new QuantizedRunner(q.memory(), rule)
          .run(
              call,
              parts.plans,
              x.rows(),
              norm.groups,
              shared ? norm.threads : 1,
              y == null ? null : parts.memory.of(y, 1),
              bits);
    } finally {
      giveBack(staging);
      Reference.reachabilityFence(this); // Kernels hold addresses, which keep nothing alive.
    }
  }

  /** False, and nothing is written, if plain Java would do it. It relies on the checks. */
  boolean computeByKernels() {
    return run(null, null, false);
  }

  /** It relies on the checks. */
  private void compute() {
    compute(null, null);
  }

  /**
   * Does a call of checked rows, or a phase of it.
   *
   * @param phase null for the call
   * @param numbers by place: takes numbers of rows, or gives them to the output; null for the call
   */
  void compute(@Nullable Phase phase, double @Nullable [] @Nullable [] numbers) {
    if (x.rows() == 0
        || !FirstTier.isInJavasState()
            && FloatingPointGuard.runs(isOfAnyThread(), () -> compute(phase, numbers))) {
      return;
    }
    run(phase, numbers, true);
  }

  private boolean run(
      @Nullable Phase phase, double @Nullable [] @Nullable [] numbers, boolean byAny) {
    BackEndParts parts = norm.backEndParts();
    Staging staging = staging();
    try (Call whole = call(output(parts), staging)) {
      Call call = phase == null ? whole : whole.phase(phase, y != null, numbers);
      int most = CallMemory.isShared(call.rows()) ? norm.threads : 1;
      long rows = x.rows() * norm.groups;
      if (byAny) {
        Runner.run(call, parts.plans, rows, most);
      }
      return byAny || Runner.runKernels(call, parts.plans, rows, most);
    } finally {
      giveBack(staging);
      Reference.reachabilityFence(this); // Kernels hold addresses, which keep nothing alive.
    }
  }

  /** Whether other threads than the caller's may access all rows. */
  boolean isOfAnyThread() {
    return CallMemory.isOfAnyThread(x, residual, z, gain, bias, y);
  }

  @Nullable RowMemory output(BackEndParts parts) {
    return y == null ? null : parts.memory.of(y, norm.groups);
  }

  /** What gain and bias of the caller may be copied to; null for the norm's own. */
  @Nullable Staging staging() {
    return gain == null && bias == null ? null : Staging.take();
  }

  static void giveBack(@Nullable Staging staging) {
    if (staging != null) {
      staging.giveBack();
    }
  }

  /**
   * The call of checked rows.
   *
   * @param output null where the output is not stored
   * @param staging {@link #staging()}, until the call is done
   */
  Call call(@Nullable RowMemory output, @Nullable Staging staging) {
    boolean float64 = x.type() == ElementType.FLOAT64;
    int parts = Math.max(1, GainAndBias.length(norm, gain, bias) / norm.groupWidth);
    Tensor last = parts > 1 ? Forward.BIAS_OF_GROUPS : z == null ? Forward.Y : Forward.Z;
    BackEndParts of = norm.backEndParts();
    @Nullable RowMemory[] rows = new RowMemory[1 + last.place()];
    rows[Forward.X.place()] = of.memory.of(x, norm.groups);
    rows[Forward.RESIDUAL.place()] = residual == null ? null : of.memory.of(residual, norm.groups);
    rows[Forward.Y.place()] = output;
    if (z != null) {
      rows[Forward.Z.place()] = of.memory.of(z, norm.groups);
    }
    Object factors = GainAndBias.gain(norm, gain, float64, staging);
    Object terms = GainAndBias.bias(norm, bias, float64, staging);
    Formula formula = of.forward(x.type(), GainAndBias.gainType(norm, gain), terms != null);
    NormColumns ofNorm = gain == null && bias == null ? of.columns(float64) : null;
    if (parts > 1) {
      GainAndBias.rows(norm, x, parts, factors, terms, ofNorm, rows);
      factors = null;
      terms = null;
    }
    return new Call(
        of.choices(x.type()),
        formula,
        rows,
        factors,
        terms,
        ofNorm,
        Call.numbers(mean, rstd),
        null);
  }
}
