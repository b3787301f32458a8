package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.RmsNorm;
import java.util.List;
import java.util.Locale;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;

/**
 * {@link RmsNorm} of the rows of a column: every row divided by its root mean square.
 *
 * <pre>{@code
 * Dataset<Row> normed =
 *     new RmsNormalizer()
 *         .setInputCol("embedding")
 *         .setOutputCol("normed")
 *         .setEpsilon(1e-5)
 *         .transform(dataset);
 * }</pre>
 */
public final class RmsNormalizer extends RowNormalizer<RmsNormalizer> {
  private static final long serialVersionUID = 1;

  private final Param<String> preset;
  private final Param<String> castOrder;
  private final Param<String> gainType;
  private final DoubleParam partial;
  private final Param<String> partialRounding;

  /** A stage with a name of its own. */
  public RmsNormalizer() {
    this(Identifiable$.MODULE$.randomUID("rmsNormalizer"));
  }

  /**
   * A stage of a name.
   *
   * @param uid its name, unique among stages
   */
  public RmsNormalizer(String uid) {
    super(uid);
    ParamChecks checks = new ParamChecks(uid);
    preset =
        new Param<>(
            uid,
            "preset",
            "the RMSNorm of llama, gemma, t5, paper, pytorch or onnx; other params change that"
                + " part of it (default: none)",
            checks.oneOf("preset", List.of("llama", "gemma", "t5", "paper", "pytorch", "onnx")));
    castOrder =
        new Param<>(
            uid,
            "castOrder",
            "where rows of 16 bits are rounded on their way: float32 (only in the end), or as"
                + " llama, t5 or onnx do (default: the preset's, or float32)",
            checks.oneOf("castOrder", List.of("float32", "llama", "t5", "onnx")));
    gainType =
        new Param<>(
            uid,
            "gainType",
            "what the gain is stored in, to which t5 rounds: float16, bfloat16, float32 or float64"
                + " (default: float64)",
            checks.type("gainType"));
    partial =
        new DoubleParam(
            uid,
            "partial",
            "partial RMSNorm: the mean square is that of this part of a row, from its start on"
                + " (default: 1)",
            checks.number(
                "partial", value -> value > 0 && value <= 1, "it must be above 0 and at most 1"));
    partialRounding =
        new Param<>(
            uid,
            "partialRounding",
            "how that part is rounded to whole elements: up or down (default: up)",
            checks.oneOf("partialRounding", List.of("up", "down")));
  }

  /**
   * What reads a stage that was saved.
   *
   * @return a reader
   */
  public static MLReader<RmsNormalizer> read() {
    return new DefaultParamsReader<>();
  }

  /**
   * Reads a stage that was saved.
   *
   * @param path where it is
   * @return the stage, with its name and params
   */
  public static RmsNormalizer load(String path) {
    return read().load(path);
  }

  @Override
  RmsNormalizer self() {
    return this;
  }

  @Override
  NormSettings settings() {
    String order = orNull(castOrder);
    String like = orNull(preset);
    return new NormSettings(
        false,
        like == null ? null : Preset.valueOf(like),
        order == null ? null : CastOrder.valueOf(order.toUpperCase(Locale.ROOT)),
        orNull(width(), Integer.class),
        orNull(gain()),
        typeOrNull(gainType),
        orNull(gainOffset(), Double.class),
        orNull(bias()),
        orNull(epsilon(), Double.class),
        placementOrNull(),
        orNull(partial, Double.class),
        orNull(partialRounding));
  }

  /**
   * The same stage with other values.
   *
   * @param extra params that are to have other values
   * @return a copy of the same name
   */
  @Override
  public RmsNormalizer copy(ParamMap extra) {
    return defaultCopy(extra);
  }

  /**
   * Whose RMSNorm. The other params change that part of it.
   *
   * @return the param
   */
  public final Param<String> preset() {
    return preset;
  }

  /**
   * The value of {@link #preset}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final String getPreset() {
    return getOrDefault(preset);
  }

  /**
   * Sets {@link #preset}.
   *
   * @param value {@code llama}, {@code gemma}, {@code t5}, {@code paper}, {@code pytorch} or {@code
   *     onnx}
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public RmsNormalizer setPreset(String value) {
    return with(preset, value);
  }

  /**
   * Where rows of 16 bits are rounded on their way. By default the preset's, or {@code float32}:
   * only in the end.
   *
   * @return the param
   */
  public final Param<String> castOrder() {
    return castOrder;
  }

  /**
   * The value of {@link #castOrder}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final String getCastOrder() {
    return getOrDefault(castOrder);
  }

  /**
   * Sets {@link #castOrder}.
   *
   * @param value {@code float32}, {@code llama}, {@code t5} or {@code onnx}
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public RmsNormalizer setCastOrder(String value) {
    return with(castOrder, value);
  }

  /**
   * What the gain is stored in, which only the cast order of T5 asks for. By default float64.
   *
   * @return the param
   */
  public final Param<String> gainType() {
    return gainType;
  }

  /**
   * The value of {@link #gainType}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final String getGainType() {
    return getOrDefault(gainType);
  }

  /**
   * Sets {@link #gainType}.
   *
   * @param value {@code float16}, {@code bfloat16}, {@code float32}, {@code float64}, or another
   *     name that {@link ElementType#ofName} knows
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public RmsNormalizer setGainType(String value) {
    return with(gainType, value);
  }

  /**
   * Partial RMSNorm: the mean square is that of this part of a row, from its start on. By default
   * all of it.
   *
   * @return the param
   */
  public final DoubleParam partial() {
    return partial;
  }

  /**
   * The value of {@link #partial}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final double getPartial() {
    return (double) getOrDefault(partial);
  }

  /**
   * Sets {@link #partial}.
   *
   * @param value above 0, at most 1
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public RmsNormalizer setPartial(double value) {
    return with(partial, value);
  }

  /**
   * How that part is rounded to whole elements: {@code up}, the default, as in the paper; its code
   * rounds {@code down}.
   *
   * @return the param
   */
  public final Param<String> partialRounding() {
    return partialRounding;
  }

  /**
   * The value of {@link #partialRounding}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final String getPartialRounding() {
    return getOrDefault(partialRounding);
  }

  /**
   * Sets {@link #partialRounding}.
   *
   * @param value {@code up} or {@code down}
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public RmsNormalizer setPartialRounding(String value) {
    return with(partialRounding, value);
  }
}
