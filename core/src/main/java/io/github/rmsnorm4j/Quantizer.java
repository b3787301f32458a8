package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.first.FirstTier;
import io.github.rmsnorm4j.internal.norm.FloatingPointGuard;
import io.github.rmsnorm4j.internal.norm.QuantizedRunner;
import io.github.rmsnorm4j.internal.quantized.CodeRule;

/**
 * The rule by which elements become codes and scales. It is immutable; methods that begin with
 * {@code with} return another one. {@link NormBuilder#quantizer} gives a norm its rule, and {@link
 * #quantize} quantises any rows.
 *
 * <p>Each scale is that of the largest magnitude a of its block: d = a / 127 for int8 codes, and d
 * = a / m for FP8 codes, where m is the largest number of their type. A block of zeros has the
 * scale 0, or the {@link ScaleFloor}, and the codes 0. A block with a NaN has the scale NaN, and
 * one with an infinity an infinite scale; their codes are 0. docs/numerics.md of the project
 * defines every byte.
 *
 * <pre>{@code
 * RmsNorm norm = RmsNorm.builder(4096).gain(gain).quantizer(Quantizer.ggmlReference()).build();
 * byte[] blocks = new byte[(int) (rows * QuantizedType.Q8_0.rowBytes(4096))];
 * norm.apply(x, QuantizedRows.of(blocks, QuantizedType.Q8_0, 4096));
 * }</pre>
 */
public final class Quantizer {
  static final Quantizer DEFAULTS =
      new Quantizer(CodeFactor.RATIO, CodeRounding.EVEN, ScaleFloor.NONE, false);

  private final CodeRule rule;
  private final boolean rounded;

  private Quantizer(CodeFactor factor, CodeRounding rounding, ScaleFloor floor, boolean rounded) {
    rule =
        new CodeRule(
            NormArguments.requireNonNull(factor, "factor"),
            NormArguments.requireNonNull(rounding, "rounding"),
            NormArguments.requireNonNull(floor, "floor"));
    this.rounded = rounded;
  }

  /**
   * {@return the default rule: {@link CodeFactor#RATIO}, {@link CodeRounding#EVEN}, no floor, and
   * codes of unrounded elements} For {@link QuantizedType#Q8_0} it gives the bytes of llama.cpp's
   * vectors on x86 ({@code quantize_row_q8_0} in ggml-cpu/arch/x86/quants.c).
   */
  public static Quantizer defaults() {
    return DEFAULTS;
  }

  /**
   * {@return the rule of ggml's reference code ({@code quantize_row_q8_0_ref} in ggml-quants.c)} It
   * has {@link CodeFactor#INVERSE} and {@link CodeRounding#AWAY}. GPULlama3.java has the same rule.
   */
  public static Quantizer ggmlReference() {
    return new Quantizer(CodeFactor.INVERSE, CodeRounding.AWAY, ScaleFloor.NONE, false);
  }

  /**
   * {@return the rule of vLLM's fused kernels ({@code rms_norm_dynamic_per_token_quant} and {@code
   * rms_norm_per_block_quant})} It has {@link CodeFactor#INVERSE}, {@link CodeRounding#EVEN} and
   * {@link ScaleFloor#VLLM}. Codes are of elements that are rounded to the type of x. The norm has
   * to have {@link CastOrder#LLAMA} and, for a residual, {@link ResidualRounding#LAST}. With a
   * given scale ({@code fused_add_rms_norm_static_fp8_quant}) vLLM has {@link
   * ResidualRounding#FIRST}.
   */
  public static Quantizer vllm() {
    return new Quantizer(CodeFactor.INVERSE, CodeRounding.EVEN, ScaleFloor.VLLM, true);
  }

  /**
   * {@return the rule of Jlama's vectors ({@code quantizeQ8_256} in PanamaTensorOperations)} It has
   * {@link CodeFactor#RATIO} and {@link CodeRounding#HALF_ADDED}. Jlama's type is {@code
   * QuantizedType.int8(32)}.
   */
  public static Quantizer jlama() {
    return new Quantizer(CodeFactor.RATIO, CodeRounding.HALF_ADDED, ScaleFloor.NONE, false);
  }

  /**
   * {@return this rule with another way to scale elements to int8 codes} FP8 codes are of elements
   * divided by their scale, or multiplied with the inverse of a given one, and {@link
   * QuantizedType#Q8_K} has a way of its own.
   *
   * @param factor {@link CodeFactor#RATIO} by default
   */
  public Quantizer withFactor(CodeFactor factor) {
    return new Quantizer(factor, rule.rounding(), rule.floor(), rounded);
  }

  /**
   * {@return this rule with another rounding to int8 codes}
   *
   * @param rounding {@link CodeRounding#EVEN} by default
   */
  public Quantizer withRounding(CodeRounding rounding) {
    return new Quantizer(rule.factor(), rounding, rule.floor(), rounded);
  }

  /**
   * {@return this rule with another least scale} Types of ggml have none.
   *
   * @param floor {@link ScaleFloor#NONE} by default
   */
  public Quantizer withFloor(ScaleFloor floor) {
    return new Quantizer(rule.factor(), rule.rounding(), floor, rounded);
  }

  /**
   * {@return this rule with or without a rounding of the norm's output to the type of x, before its
   * largest magnitudes are found} It makes a difference for 16-bit types. vLLM and TensorRT-LLM
   * round, ggml and FlashInfer do not.
   *
   * @param rounded false by default
   */
  public Quantizer withRoundedOutput(boolean rounded) {
    return new Quantizer(rule.factor(), rule.rounding(), rule.floor(), rounded);
  }

  /** {@return the way to scale elements to int8 codes} */
  public CodeFactor factor() {
    return rule.factor();
  }

  /** {@return the rounding to int8 codes} */
  public CodeRounding rounding() {
    return rule.rounding();
  }

  /** {@return the least scale} */
  public ScaleFloor floor() {
    return rule.floor();
  }

  /** {@return whether the output of a norm is rounded to the type of x first} */
  public boolean roundsOutput() {
    return rounded;
  }

  /**
   * Quantises rows as they are. A float64 element is rounded to float32 first. Large calls take as
   * many threads as there are processors, like a norm.
   *
   * @param x the rows
   * @param q where the codes and scales go: as many rows of the same width
   * @throws IllegalArgumentException if the shapes differ, or q is read-only, overlaps itself or x
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void quantize(Rows x, QuantizedRows q) {
    quantize(x, q, Runtime.getRuntime().availableProcessors());
  }

  /**
   * Quantises rows as they are, on at most so many threads.
   *
   * @param x the rows
   * @param q where the codes and scales go: as many rows of the same width
   * @param threads 1 or more, including the caller's
   * @throws IllegalArgumentException as for {@link #quantize(Rows, QuantizedRows)}, or if threads
   *     is below 1
   * @throws IllegalStateException if a segment is closed
   * @throws WrongThreadException if a segment is confined to another thread
   */
  public void quantize(Rows x, QuantizedRows q, int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads is " + threads + ", it must be at least 1");
    }
    CallOperands.checkQuantized(x, q);
    if (x.rows() == 0) {
      return;
    }
    boolean shared = CallMemory.isOfAnyThread(x) && CallMemory.isOfAnyThread(q);
    if (!FirstTier.isInJavasState()
        && FloatingPointGuard.runs(shared, () -> quantize(x, q, threads))) {
      return;
    }
    RowMemory rows = x.memory(x.rowStride() * x.type().bytes(), 0, 0, false);
    new QuantizedRunner(q.memory(), rule)
        .run(rows, x.rows(), shared ? threads : 1, () -> Backend.best().machineBits());
  }

  CodeRule rule() {
    return rule;
  }

  /** The choices, for example {@code quantizer(RATIO, EVEN)}. */
  @Override
  public String toString() {
    return "quantizer("
        + rule.factor()
        + ", "
        + rule.rounding()
        + (rule.floor() == ScaleFloor.NONE ? "" : ", floor " + rule.floor())
        + (rounded ? ", of rounded output)" : ")");
  }
}
