package io.github.rmsnorm4j;

import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;

/**
 * The choices of a norm that decide its formula: everything except width, gain, bias and the types
 * of the rows. Two norms of equal spec, width, gain and bias give the same bits.
 *
 * <pre>{@code
 * RmsNorm norm = RmsNorm.llama(4096).epsilon(1e-5).gain(weights).build();
 * norm.spec();                                                   // llama(eps=1e-5)
 * NormSpec.parse("llama(eps=1e-5)").builder(4096).gain(weights).build();   // the same norm
 * }</pre>
 *
 * <p>{@link #parse} and {@link #toString} are inverse for all choices that a norm can have. The
 * text is the name of a preset. Settings that differ follow in parentheses: {@code
 * gemma(eps=1e-5)}, {@code rmsnorm(eps=1e-8 outside, part=1/16)}. {@link #parse} has all settings.
 *
 * @param kind RMSNorm, LayerNorm or L2 norm
 * @param epsilon epsilon, finite and not negative; empty for that of the type of the rows, as
 *     {@link #epsilon(ElementType)} gives it
 * @param epsilonPlacement where epsilon goes
 * @param castOrder where rows of 16 bits are rounded between input and output
 * @param gainOffset a number that is added to each element of the gain; it has no effect without a
 *     gain
 * @param part the part of the row that the mean square is taken from
 * @param residualRounding when the sum with a residual is rounded
 * @param gate whether a second row multiplies the norm or its input; then the norm adds no residual
 * @param groups the groups of a row, each with a statistic of its own
 */
public record NormSpec(
    Kind kind,
    OptionalDouble epsilon,
    EpsilonPlacement epsilonPlacement,
    CastOrder castOrder,
    double gainOffset,
    RowPart part,
    ResidualRounding residualRounding,
    Gate gate,
    RowGroups groups) {

  /** Which norm. */
  public enum Kind {
    /** {@link io.github.rmsnorm4j.RmsNorm}. */
    RMS_NORM,
    /** {@link io.github.rmsnorm4j.LayerNorm}. */
    LAYER_NORM,
    /** {@link io.github.rmsnorm4j.L2Norm}. */
    L2_NORM
  }

  /** RMSNorm with epsilon 1e-6, the epsilon of Hugging Face's models and Keras. */
  public static final NormSpec RMSNORM = of(Kind.RMS_NORM, RmsNorm.DEFAULT_EPSILON);

  /** LayerNorm with epsilon 1e-5, as in PyTorch and ONNX. */
  public static final NormSpec LAYERNORM = of(Kind.LAYER_NORM, LayerNorm.DEFAULT_EPSILON);

  /**
   * Llama, Qwen 2 and 3, Mistral, DeepSeek, Yi and Phi-3: LlamaRMSNorm of Hugging Face's
   * transformers. The normalised row is rounded to the type of the input before it is multiplied by
   * the gain. Epsilon is 1e-6; many checkpoints set 1e-5. Qwen3-Next and Qwen3.5 have {@link
   * #GEMMA}.
   */
  public static final NormSpec LLAMA = RMSNORM.withCastOrder(CastOrder.LLAMA);

  /**
   * Gemma 1 to 3: GemmaRMSNorm of Hugging Face's transformers; also Qwen3-Next and Qwen3.5, except
   * their norms with a gate. The checkpoint stores gain - 1; the norm adds 1 in float32. The result
   * is rounded once, at the end. Epsilon is 1e-6. A GGUF file holds the gain itself, because
   * programs that convert to GGUF add the 1: its norm is {@link #RMSNORM}.
   */
  public static final NormSpec GEMMA = RMSNORM.withGainOffset(1);

  /**
   * T5: T5LayerNorm of Hugging Face's transformers, which is an RMSNorm. The normalised row is
   * rounded to the type of the gain if that has 16 bits. Epsilon is 1e-6.
   */
  public static final NormSpec T5 = RMSNORM.withCastOrder(CastOrder.T5);

  /**
   * The code published with the paper (bzhangGo/rmsnorm, rmsnorm_torch.py): epsilon 1e-8, outside
   * the root.
   */
  public static final NormSpec PAPER =
      RMSNORM.withEpsilon(1e-8).withEpsilonPlacement(EpsilonPlacement.OUTSIDE);

  /**
   * torch.nn.RMSNorm with {@code eps=None}: epsilon by the type of the rows, 2^-52 = 2.22e-16 for
   * float64 and 2^-23 = 1.19e-7 for all others. The result is rounded once, at the end.
   */
  public static final NormSpec PYTORCH = RMSNORM.withEpsilonOfType();

  /**
   * ONNX's RMSNormalization-23 with the stash type float32. The row is divided by the root, and
   * rounded to its type before it is multiplied by the gain. Epsilon is 1e-5.
   */
  public static final NormSpec ONNX = RMSNORM.withEpsilon(1e-5).withCastOrder(CastOrder.ONNX);

  /**
   * The L2 norm of torch.nn.functional.normalize: a row is divided by its length, or by epsilon if
   * the length is less. Epsilon is 1e-12. Gated DeltaNet and Kimi Delta Attention have {@code
   * l2(eps=1e-6 inside)}.
   */
  public static final NormSpec L2 =
      of(Kind.L2_NORM, L2Norm.DEFAULT_EPSILON).withEpsilonPlacement(EpsilonPlacement.FLOOR);

  /**
   * Rows of length 1, as databases of vectors make them: the L2 norm without epsilon. A row of
   * zeros stays zeros, and its gradient is 0 where dy is finite.
   */
  public static final NormSpec UNIT = L2.withEpsilon(0);

  /**
   * A spec with a name.
   *
   * @param name as texts have it
   * @param spec its choices
   * @param source whose norm it is
   */
  public record Preset(String name, NormSpec spec, String source) {}

  /** Made when they are first needed: an engine needs none. */
  private static final class Presets {
    static final List<Preset> ALL =
        List.of(
            new Preset("rmsnorm", RMSNORM, "the default RMSNorm of this library, Keras"),
            new Preset("layernorm", LAYERNORM, "LayerNorm of PyTorch and ONNX"),
            new Preset(
                "llama",
                LLAMA,
                "LlamaRMSNorm in Hugging Face's transformers: Llama, Qwen 2 and 3, Mistral, DeepSeek,"
                    + " Yi, Phi-3"),
            new Preset(
                "gemma",
                GEMMA,
                "GemmaRMSNorm in Hugging Face's transformers: Gemma 1 to 3, Qwen3-Next, Qwen3.5"),
            new Preset("t5", T5, "T5LayerNorm in Hugging Face's transformers: T5"),
            new Preset(
                "paper", PAPER, "the PyTorch code published with the paper, bzhangGo/rmsnorm"),
            new Preset("pytorch", PYTORCH, "torch.nn.RMSNorm with eps=None"),
            new Preset("onnx", ONNX, "ONNX RMSNormalization-23 with stash type float32"),
            new Preset("l2", L2, "torch.nn.functional.normalize: x / max(length, eps)"),
            new Preset("unit", UNIT, "l2_normalize of pgvector: rows of length 1, zeros stay"));
  }

  /**
   * Checks each choice.
   *
   * @throws NullPointerException if one is null
   * @throws IllegalArgumentException if epsilon is negative or not finite, the offset is not
   *     finite, a LayerNorm or an L2 norm has a cast order or a part of the row, or groups have a
   *     part
   */
  public NormSpec {
    Objects.requireNonNull(kind, "kind is null");
    Objects.requireNonNull(epsilonPlacement, "epsilonPlacement is null");
    Objects.requireNonNull(castOrder, "castOrder is null");
    Objects.requireNonNull(part, "part is null");
    Objects.requireNonNull(residualRounding, "residualRounding is null");
    Objects.requireNonNull(gate, "gate is null");
    Objects.requireNonNull(groups, "groups is null");
    double eps = Objects.requireNonNull(epsilon, "epsilon is null").orElse(0);
    require(
        eps >= 0 && eps <= Double.MAX_VALUE, "epsilon", eps, "it must be finite and not negative");
    require(Double.isFinite(gainOffset), "gain offset", gainOffset, "it must be finite");
    if (kind != Kind.RMS_NORM) {
      require(
          castOrder == CastOrder.FLOAT32,
          "cast order",
          castOrder,
          "only an RMSNorm may have another than FLOAT32");
      require(part.isWhole(), "part", part, "only an RMSNorm may have another than 1");
    }
    require(
        kind != Kind.LAYER_NORM || gate != Gate.SILU_BEFORE,
        "gate",
        gate,
        "a LayerNorm has only none, silu and sigmoid");
    require(part.isWhole() || groups.isWhole(), "part", part, "with groups of a row it must be 1");
    // -0 is 0, so that equal choices are equal.
    epsilon = epsilon.isPresent() ? OptionalDouble.of(eps + 0.0) : epsilon;
    gainOffset += 0.0;
  }

  private static void require(boolean holds, String name, Object value, String allowed) {
    if (!holds) {
      throw new IllegalArgumentException(name + " is " + value + ", " + allowed);
    }
  }

  private static NormSpec of(Kind kind, double epsilon) {
    return new NormSpec(
        kind,
        OptionalDouble.of(epsilon),
        EpsilonPlacement.INSIDE,
        CastOrder.FLOAT32,
        0,
        RowPart.WHOLE,
        ResidualRounding.FIRST,
        Gate.NONE,
        RowGroups.WHOLE);
  }

  /** {@return all presets, the specs that have names, in the order of the project's pages} */
  public static List<Preset> presets() {
    return Presets.ALL;
  }

  /**
   * {@return the spec that a text describes: the name of a preset or a model and, in parentheses,
   * the settings that differ from it} Each is given once, in any order.
   *
   * <p>A model's name is the {@code model_type} of its {@code config.json}, such as {@code gemma3},
   * or its GGUF architecture. Epsilon is then the default of that model type. Most checkpoints set
   * their own: {@code gemma3(eps=1e-5)}. A preset's name always means the preset. A name that is
   * both a model type and an architecture means the model type. Where its norm is {@link #GEMMA},
   * GGUF files already have the 1 added to the gain, so their norm is {@code rmsnorm}.
   *
   * <ul>
   *   <li>{@code eps=1e-5}: epsilon; {@code eps=type}: that of the type of the rows; {@code
   *       eps=1e-8 outside}, {@code inside} or {@code floor}: the place too
   *   <li>{@code cast=float32}, {@code llama}, {@code t5}, {@code onnx}, {@code divided}, {@code
   *       gain-first}, {@code rounded-root}, {@code none} or {@code none-divided}: the cast order
   *   <li>{@code offset=1}: the gain offset
   *   <li>{@code part=1/16} or {@code part=0.0625}: the part of the row that the mean square is
   *       taken from; {@code part=1/16 down}: rounded down to whole elements
   *   <li>{@code residual=first}, {@code between} or {@code last}: the rounding of the residual
   *   <li>{@code gate=none}, {@code silu}, {@code sigmoid} or {@code silu before}: the gate
   *   <li>{@code groupcount=8}, or {@code groupsize=512}: the groups of a row
   * </ul>
   *
   * @param text for example {@code llama(eps=1e-5)}
   * @throws IllegalArgumentException if it is no such text, its choices exclude each other, or the
   *     model has several norms, which the message lists
   */
  public static NormSpec parse(String text) {
    return NormText.parse(Objects.requireNonNull(text, "text is null"));
  }

  /**
   * {@return a builder of a norm of these choices, without gain and bias} Each kind has a builder
   * of its own type too: {@link RmsNorm#builder(NormSpec, int)}, {@link LayerNorm#builder(NormSpec,
   * int)} and {@link L2Norm#builder(NormSpec, int)}.
   *
   * @param width elements per row
   * @throws IllegalArgumentException if the width is below 1, the part leaves no element, or the
   *     groups do not divide the width
   */
  public NormBuilder<?> builder(int width) {
    return Builders.of(this, width);
  }

  /** A class of its own, since the JVM loads all builders to verify it. */
  private static final class Builders {
    static NormBuilder<?> of(NormSpec spec, int width) {
      return switch (spec.kind) {
        case RMS_NORM -> RmsNorm.builder(spec, width);
        case LAYER_NORM -> LayerNorm.builder(spec, width);
        case L2_NORM -> L2Norm.builder(spec, width);
      };
    }
  }

  /** {@return whether the mean of a row is subtracted: true for LayerNorm alone} */
  public boolean isCentred() {
    return kind == Kind.LAYER_NORM;
  }

  /** {@return whether a row is divided by its length: true for an L2 norm alone} */
  public boolean isOfLength() {
    return kind == Kind.L2_NORM;
  }

  /**
   * {@return whether a row of zeros stays zeros, because its rstd is 0: true for an L2 norm whose
   * floor is 0, as {@link #UNIT} is}
   */
  public boolean leavesZeros() {
    boolean isFloor = epsilonPlacement == EpsilonPlacement.FLOOR;
    return isOfLength() && isFloor && epsilon.isPresent() && epsilon.getAsDouble() == 0;
  }

  /**
   * {@return epsilon for rows of a type: {@link #epsilon()}, or where that is empty 2^-52 for
   * float64 and 2^-23 for other types}
   *
   * @param rows their type
   */
  public double epsilon(ElementType rows) {
    return epsilon.orElse(rows == ElementType.FLOAT64 ? 0x1p-52 : 0x1p-23);
  }

  /**
   * {@return another spec of the same choices with another epsilon}
   *
   * @param epsilon finite and not negative
   * @throws IllegalArgumentException if it is negative, infinite or NaN
   */
  public NormSpec withEpsilon(double epsilon) {
    return with(OptionalDouble.of(epsilon), "epsilon");
  }

  /** {@return another spec of the same choices with the epsilon of the type of the rows} */
  public NormSpec withEpsilonOfType() {
    return with(OptionalDouble.empty(), "epsilon");
  }

  /**
   * {@return another spec of the same choices with epsilon at another place}
   *
   * @param placement where epsilon goes
   */
  public NormSpec withEpsilonPlacement(EpsilonPlacement placement) {
    return with(placement, "epsilonPlacement");
  }

  /**
   * {@return another spec of the same choices with another cast order}
   *
   * @param order {@link CastOrder#FLOAT32} unless it is an RMSNorm
   * @throws IllegalArgumentException if this is no RMSNorm and the order is another
   */
  public NormSpec withCastOrder(CastOrder order) {
    return with(order, "castOrder");
  }

  /**
   * {@return another spec of the same choices with another gain offset}
   *
   * @param offset finite
   * @throws IllegalArgumentException if it is infinite or NaN
   */
  public NormSpec withGainOffset(double offset) {
    return with(offset, "gainOffset");
  }

  /**
   * {@return another spec of the same choices with the statistic of another part of the row}
   *
   * @param part {@link RowPart#WHOLE} unless it is an RMSNorm
   * @throws IllegalArgumentException if this is no RMSNorm and the part is not the whole row
   */
  public NormSpec withPart(RowPart part) {
    return with(part, "part");
  }

  /**
   * {@return another spec of the same choices with another rounding of the residual}
   *
   * @param rounding when the sum with a residual is rounded
   */
  public NormSpec withResidualRounding(ResidualRounding rounding) {
    return with(rounding, "residualRounding");
  }

  /**
   * {@return another spec of the same choices with another gate}
   *
   * @param gate not {@link Gate#SILU_BEFORE} for a LayerNorm
   * @throws IllegalArgumentException if this is a LayerNorm and the gate before it
   */
  public NormSpec withGate(Gate gate) {
    return with(gate, "gate");
  }

  /**
   * {@return another spec of the same choices of another kind}
   *
   * @param kind of norm
   * @throws IllegalArgumentException if it does not have the cast order, part or gate
   */
  public NormSpec withKind(Kind kind) {
    return with(kind, "kind");
  }

  /**
   * {@return another spec of the same choices with other groups of a row}
   *
   * @param groups {@link RowGroups#WHOLE} for a partial norm
   * @throws IllegalArgumentException if this is a partial norm and the groups are not the whole row
   */
  public NormSpec withGroups(RowGroups groups) {
    return with(groups, "groups");
  }

  /** The same choices but one, which its type tells: no two choices have the same type. */
  private NormSpec with(Object choice, String name) {
    if (choice == null) {
      throw new NullPointerException(name + " is null");
    }
    return new NormSpec(
        choice instanceof Kind other ? other : kind,
        choice instanceof OptionalDouble other ? other : epsilon,
        choice instanceof EpsilonPlacement other ? other : epsilonPlacement,
        choice instanceof CastOrder other ? other : castOrder,
        choice instanceof Double other ? other : gainOffset,
        choice instanceof RowPart other ? other : part,
        choice instanceof ResidualRounding other ? other : residualRounding,
        choice instanceof Gate other ? other : gate,
        choice instanceof RowGroups other ? other : groups);
  }

  /**
   * Refuses choices that exclude each other. A gain offset and a cast order can be set one after
   * the other, so they are compared when the norm is built, or the text read.
   *
   * @param bias whether the norm has one
   * @throws IllegalArgumentException if the norm has no formula
   */
  void requireFormula(boolean bias) {
    require(
        castOrder != CastOrder.T5 || gainOffset == 0,
        "gain offset",
        gainOffset,
        "it must be 0 with cast order T5: that rounds to the type of the gain as stored");
    // An order that rounds to 16 bits leaves open whether it rounds again before a bias is added.
    // DIVIDED and GAIN_FIRST are for RMSNorms of other systems that add no bias after the gain.
    require(
        !bias || castOrder == CastOrder.FLOAT32,
        "cast order",
        castOrder,
        "with a bias it must be FLOAT32");
  }

  /** The text that {@link #parse} reads: {@code llama}, or {@code llama(eps=1e-5)}. */
  @Override
  public String toString() {
    return NormText.of(this);
  }
}
