package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.param.DoubleArrayParam;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.util.DefaultParamsWritable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * A transformer of Spark ML that normalises the rows of a column: {@link RmsNormalizer} or {@link
 * LayerNormalizer}.
 *
 * <p><b>Columns.</b> {@code array<float>}, {@code array<double>}, vectors of Spark ML, of which
 * sparse ones become dense, and binary columns of packed float16, bfloat16, float32 or float64 in
 * the machine's byte order, with the {@code inputType} named. The output is a column like the
 * input's, unless an {@code outputType} is named that such a column cannot hold: that is an array
 * for float32 and float64, and binary for float16 and bfloat16.
 *
 * <p><b>Values.</b> Arithmetic is float32, and float64 where the input is. NaN and infinity
 * propagate. Null stays null. What {@code handleInvalid} says is done with rows that are of the
 * wrong width, empty, or hold a null element.
 *
 * <p><b>Plans.</b> Nothing is computed before an action asks for it, and one row at a time on the
 * task's own thread. The result is a function of the row: it does not matter how often and where
 * Spark computes it.
 *
 * @param <T> the transformer's own type
 */
public abstract sealed class RowNormalizer<T extends RowNormalizer<T>> extends Transformer
    implements DefaultParamsWritable permits RmsNormalizer, LayerNormalizer {
  private static final long serialVersionUID = 1;

  private final String uid;
  private final Param<String> inputCol;
  private final Param<String> outputCol;
  private final IntParam width;
  private final DoubleArrayParam gain;
  private final DoubleParam gainOffset;
  private final DoubleArrayParam bias;
  private final DoubleParam epsilon;
  private final Param<String> epsilonPlacement;
  private final Param<String> inputType;
  private final Param<String> outputType;
  private final Param<String> handleInvalid;

  RowNormalizer(String uid) {
    this.uid = uid;
    ParamChecks checks = new ParamChecks(uid);
    inputCol = new Param<>(uid, "inputCol", "input column name", checks.column("inputCol"));
    outputCol = new Param<>(uid, "outputCol", "output column name", checks.column("outputCol"));
    width =
        new IntParam(
            uid,
            "width",
            "elements per row (default: as many as gain or bias has; without those each row has"
                + " its own)",
            checks.positive("width"));
    gain =
        new DoubleArrayParam(
            this,
            "gain",
            "what normalized elements are multiplied by (default: none)",
            checks.elements("gain"));
    gainOffset =
        new DoubleParam(
            uid,
            "gainOffset",
            "what is added to every element of the gain: 1 for one that is stored less 1 (default:"
                + " the preset's, or 0)",
            checks.number("gainOffset", Double::isFinite, "it must be finite"));
    bias =
        new DoubleArrayParam(
            this,
            "bias",
            "what is added to each element in the end (default: none)",
            checks.elements("bias"));
    epsilon =
        new DoubleParam(
            uid,
            "epsilon",
            "what is added to the mean square or the variance (default: the preset's, or 1e-6 for"
                + " RMSNorm and 1e-5 for LayerNorm)",
            checks.number(
                "epsilon",
                value -> value >= 0 && value <= Double.MAX_VALUE,
                "it must be finite and not negative"));
    epsilonPlacement =
        new Param<>(
            uid,
            "epsilonPlacement",
            "where epsilon goes: inside the root, outside it, or as the floor of the root (default:"
                + " the preset's, or inside)",
            checks.oneOf("epsilonPlacement", List.of("inside", "outside", "floor")));
    inputType =
        new Param<>(
            uid,
            "inputType",
            "what a binary column holds: float16, bfloat16, float32 or float64",
            checks.type("inputType"));
    outputType =
        new Param<>(
            uid,
            "outputType",
            "type of the result's elements: float16, bfloat16, float32 or float64 (default: the"
                + " input's)",
            checks.type("outputType"));
    handleInvalid =
        new Param<>(
            uid,
            "handleInvalid",
            "what is done with rows of the wrong width or with null elements: error (the job"
                + " fails), keep (the result is null) or skip (they are left out)",
            checks.oneOf("handleInvalid", List.of("error", "keep", "skip")));
    setDefault(outputCol, uid + "__output");
    setDefault(handleInvalid, "error");
  }

  abstract T self();

  /** What the params say of the norm. */
  abstract NormSettings settings();

  <V> T with(Param<V> param, V value) {
    set(param, value);
    return self();
  }

  /** A param's value, or null if it is not set. */
  <V> V orNull(Param<V> param) {
    return isDefined(param) ? getOrDefault(param) : null;
  }

  /** A number's value, or null: to Java's generics the numbers of Scala are objects. */
  <V> V orNull(Param<Object> param, Class<V> type) {
    return type.cast(orNull(param));
  }

  EpsilonPlacement placementOrNull() {
    String name = orNull(epsilonPlacement);
    return name == null ? null : EpsilonPlacement.valueOf(name.toUpperCase(Locale.ROOT));
  }

  ElementType typeOrNull(Param<String> param) {
    String name = orNull(param);
    return name == null ? null : ElementType.ofName(name);
  }

  /**
   * Adds the column of the result.
   *
   * @param dataset with the input's column
   * @return the same rows, less those that are skipped, with the output's column behind the others;
   *     nothing is computed yet
   * @throws IllegalArgumentException as for {@link #transformSchema}
   */
  @Override
  public Dataset<Row> transform(Dataset<?> dataset) {
    return named(() -> rowTransform().apply(dataset));
  }

  /**
   * Checks the params against the columns.
   *
   * @param schema of what is to be transformed
   * @return the same with the output's column
   * @throws IllegalArgumentException if params do not go together, the input's column is not there
   *     or not of a type that can be normalised, or the output's is there already
   */
  @Override
  public StructType transformSchema(StructType schema) {
    return named(() -> rowTransform().schema(schema));
  }

  private RowTransform rowTransform() {
    if (!isSet(inputCol)) {
      throw new IllegalArgumentException(
          "inputCol is not set, it must name a column of " + RowColumn.ALLOWED);
    }
    return new RowTransform(
        getInputCol(),
        getOutputCol(),
        settings(),
        typeOrNull(inputType),
        typeOrNull(outputType),
        getHandleInvalid());
  }

  /** A pipeline has many stages, so what is wrong is said with this one's name. */
  private <V> V named(Supplier<V> work) {
    try {
      return work.get();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(uid + ": " + e.getMessage(), e);
    }
  }

  /**
   * This stage among others.
   *
   * @return its unique name
   */
  @Override
  public String uid() {
    return uid;
  }

  /**
   * The column of the rows.
   *
   * @return the param
   */
  public final Param<String> inputCol() {
    return inputCol;
  }

  /**
   * The value of {@link #inputCol}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final String getInputCol() {
    return getOrDefault(inputCol);
  }

  /**
   * Sets {@link #inputCol}.
   *
   * @param name a column of {@code array<float>}, {@code array<double>}, vectors or binary
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setInputCol(String name) {
    return with(inputCol, name);
  }

  /**
   * The column of the result; by default named after the stage.
   *
   * @return the param
   */
  public final Param<String> outputCol() {
    return outputCol;
  }

  /**
   * The value of {@link #outputCol}.
   *
   * @return what was set, or the default
   */
  public final String getOutputCol() {
    return getOrDefault(outputCol);
  }

  /**
   * Sets {@link #outputCol}.
   *
   * @param name a name that no column has
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setOutputCol(String name) {
    return with(outputCol, name);
  }

  /**
   * How wide the rows are. By default as the gain or the bias is; without those each row is
   * normalised by its own width.
   *
   * @return the param
   */
  public final IntParam width() {
    return width;
  }

  /**
   * The value of {@link #width}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final int getWidth() {
    return (int) getOrDefault(width);
  }

  /**
   * Sets {@link #width}.
   *
   * @param value elements per row, 1 or more
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setWidth(int value) {
    return with(width, value);
  }

  /**
   * The learned factor of each element of a row. Without one nothing is multiplied.
   *
   * @return the param
   */
  public final DoubleArrayParam gain() {
    return gain;
  }

  /**
   * The value of {@link #gain}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final double[] getGain() {
    return getOrDefault(gain);
  }

  /**
   * Sets {@link #gain}.
   *
   * @param value copied; as many elements as a row; numbers of narrower types are exact in it
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setGain(double[] value) {
    return with(gain, value == null ? null : value.clone());
  }

  /**
   * What is added to every element of the gain: 1 for models that store their gain less 1, as Gemma
   * does. By default the preset's, or 0.
   *
   * @return the param
   */
  public final DoubleParam gainOffset() {
    return gainOffset;
  }

  /**
   * The value of {@link #gainOffset}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final double getGainOffset() {
    return (double) getOrDefault(gainOffset);
  }

  /**
   * Sets {@link #gainOffset}.
   *
   * @param value finite
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setGainOffset(double value) {
    return with(gainOffset, value);
  }

  /**
   * The learned term added to each element of a row. Without one nothing is added.
   *
   * @return the param
   */
  public final DoubleArrayParam bias() {
    return bias;
  }

  /**
   * The value of {@link #bias}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final double[] getBias() {
    return getOrDefault(bias);
  }

  /**
   * Sets {@link #bias}.
   *
   * @param value copied; as many elements as a row
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setBias(double[] value) {
    return with(bias, value == null ? null : value.clone());
  }

  /**
   * What keeps the root from 0. By default the preset's, or the library's.
   *
   * @return the param
   */
  public final DoubleParam epsilon() {
    return epsilon;
  }

  /**
   * The value of {@link #epsilon}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final double getEpsilon() {
    return (double) getOrDefault(epsilon);
  }

  /**
   * Sets {@link #epsilon}.
   *
   * @param value finite and not negative
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setEpsilon(double value) {
    return with(epsilon, value);
  }

  /**
   * Where epsilon goes. By default the preset's, or {@code inside} the root.
   *
   * @return the param
   */
  public final Param<String> epsilonPlacement() {
    return epsilonPlacement;
  }

  /**
   * The value of {@link #epsilonPlacement}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final String getEpsilonPlacement() {
    return getOrDefault(epsilonPlacement);
  }

  /**
   * Sets {@link #epsilonPlacement}.
   *
   * @param value {@code inside}, {@code outside} or {@code floor}
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setEpsilonPlacement(String value) {
    return with(epsilonPlacement, value);
  }

  /**
   * What a binary column holds. Needed for those, and to be left alone for others.
   *
   * @return the param
   */
  public final Param<String> inputType() {
    return inputType;
  }

  /**
   * The value of {@link #inputType}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final String getInputType() {
    return getOrDefault(inputType);
  }

  /**
   * Sets {@link #inputType}.
   *
   * @param value {@code float16}, {@code bfloat16}, {@code float32}, {@code float64}, or another
   *     name that {@link ElementType#ofName} knows
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setInputType(String value) {
    return with(inputType, value);
  }

  /**
   * The type of the result's elements. By default the input's.
   *
   * @return the param
   */
  public final Param<String> outputType() {
    return outputType;
  }

  /**
   * The value of {@link #outputType}.
   *
   * @return what was set
   * @throws java.util.NoSuchElementException if nothing was
   */
  public final String getOutputType() {
    return getOrDefault(outputType);
  }

  /**
   * Sets {@link #outputType}.
   *
   * @param value {@code float16}, {@code bfloat16}, {@code float32}, {@code float64}, or another
   *     name that {@link ElementType#ofName} knows
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setOutputType(String value) {
    return with(outputType, value);
  }

  /**
   * What is done with rows of the wrong width, empty ones and those with null elements: {@code
   * error}, the default, fails the job; {@code keep} makes the result null; {@code skip} leaves
   * them out.
   *
   * @return the param
   */
  public final Param<String> handleInvalid() {
    return handleInvalid;
  }

  /**
   * The value of {@link #handleInvalid}.
   *
   * @return what was set, or the default
   */
  public final String getHandleInvalid() {
    return getOrDefault(handleInvalid);
  }

  /**
   * Sets {@link #handleInvalid}.
   *
   * @param value {@code error}, {@code keep} or {@code skip}
   * @return this
   * @throws IllegalArgumentException if it is anything else
   */
  public final T setHandleInvalid(String value) {
    return with(handleInvalid, value);
  }
}
