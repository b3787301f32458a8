package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Supplier;
import org.apache.spark.ml.Transformer;
import org.apache.spark.ml.param.DoubleArrayParam;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWritable;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * A transformer of Spark ML that normalises the rows of a column with RMSNorm or LayerNorm.
 *
 * <pre>{@code
 * Dataset<Row> normed =
 *     new RowNormalizer()
 *         .setInputCol("embedding")
 *         .setOutputCol("normed")
 *         .setNorm("llama(eps=1e-5)")
 *         .setGain(gain)
 *         .transform(dataset);
 * }</pre>
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
 * <p><b>Params.</b> Setters throw {@link IllegalArgumentException} for a value that the param
 * cannot have. Getters throw {@link NoSuchElementException} where nothing was set and there is no
 * default.
 *
 * <p><b>Plans.</b> Nothing is computed before an action asks for it, and one row at a time on the
 * task's own thread. The result is a function of the row: it does not matter how often and where
 * Spark computes it.
 */
public final class RowNormalizer extends Transformer implements DefaultParamsWritable {
  private static final long serialVersionUID = 1;

  private final String uid;
  private final Param<String> inputCol;
  private final Param<String> outputCol;
  private final Param<String> norm;
  private final IntParam width;
  private final DoubleArrayParam gain;
  private final Param<String> gainType;
  private final DoubleArrayParam bias;
  private final Param<String> inputType;
  private final Param<String> outputType;
  private final Param<String> handleInvalid;

  /** A stage with a name of its own. */
  public RowNormalizer() {
    this(Identifiable$.MODULE$.randomUID("rowNormalizer"));
  }

  /**
   * A stage of a name.
   *
   * @param uid its name, unique among stages
   */
  public RowNormalizer(String uid) {
    this.uid = uid;
    CheckedParams params = new CheckedParams(this);
    inputCol = params.column("inputCol", "input column name");
    outputCol = params.column("outputCol", "output column name");
    norm =
        params.norm(
            "norm",
            "the norm: rmsnorm, layernorm, llama, ... with other settings in parentheses, as in"
                + " llama(eps=1e-5)");
    width =
        params.positive(
            "width",
            "elements per row (default: as many as gain or bias has; without those each row has"
                + " its own)");
    gain = params.elements("gain", "what normalized elements are multiplied by (default: none)");
    gainType =
        params.type(
            "gainType",
            "what the gain is stored in, to which t5 rounds: float16, bfloat16, float32 or float64"
                + " (default: float64)");
    bias = params.elements("bias", "what is added to each element in the end (default: none)");
    inputType =
        params.type(
            "inputType", "what a binary column holds: float16, bfloat16, float32 or float64");
    outputType =
        params.type(
            "outputType",
            "type of the result's elements: float16, bfloat16, float32 or float64 (default: the"
                + " input's)");
    handleInvalid =
        params.oneOf(
            List.of("error", "keep", "skip"),
            "handleInvalid",
            "what is done with rows of the wrong width or with null elements: error (the job"
                + " fails), keep (the result is null) or skip (they are left out)");
    setDefault(outputCol, uid + "__output");
    setDefault(norm, NormSpec.RMSNORM.toString());
    setDefault(handleInvalid, "error");
  }

  /** {@return what reads a stage that was saved} */
  public static MLReader<RowNormalizer> read() {
    return new DefaultParamsReader<>();
  }

  /**
   * {@return a stage that was saved, with its name and params}
   *
   * @param path where it is
   */
  public static RowNormalizer load(String path) {
    return read().load(path);
  }

  /** What the params say of the norm. */
  NormSettings settings() {
    return new NormSettings(
            getNorm(),
            isSet(width) ? (Integer) getWidth() : null,
            orNull(gain),
            typeOrNull(gainType),
            orNull(bias))
        .checked();
  }

  private <V> RowNormalizer with(Param<V> param, V value) {
    set(param, value);
    return this;
  }

  private <V> V orNull(Param<V> param) {
    return isDefined(param) ? getOrDefault(param) : null;
  }

  private ElementType typeOrNull(Param<String> param) {
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
   * {@return a copy of the same stage, of the same name, with other values}
   *
   * @param extra params that are to have other values
   */
  @Override
  public RowNormalizer copy(ParamMap extra) {
    return defaultCopy(extra);
  }

  /** {@return the unique name of this stage} */
  @Override
  public String uid() {
    return uid;
  }

  /** {@return the param: the column of the rows} */
  public Param<String> inputCol() {
    return inputCol;
  }

  /** {@return the value of {@link #inputCol}} */
  public String getInputCol() {
    return getOrDefault(inputCol);
  }

  /**
   * {@return this, with another value of {@link #inputCol}}
   *
   * @param name a column of {@code array<float>}, {@code array<double>}, vectors or binary
   */
  public RowNormalizer setInputCol(String name) {
    return with(inputCol, name);
  }

  /** {@return the param: the column of the result; by default named after the stage} */
  public Param<String> outputCol() {
    return outputCol;
  }

  /** {@return the value of {@link #outputCol}, or its default} */
  public String getOutputCol() {
    return getOrDefault(outputCol);
  }

  /**
   * {@return this, with another value of {@link #outputCol}}
   *
   * @param name a name that no column has
   */
  public RowNormalizer setOutputCol(String name) {
    return with(outputCol, name);
  }

  /** {@return the param: the text of a {@link NormSpec}} By default {@code rmsnorm}. */
  public Param<String> norm() {
    return norm;
  }

  /** {@return the value of {@link #norm}, or its default} */
  public String getNorm() {
    return getOrDefault(norm);
  }

  /**
   * {@return this, with another value of {@link #norm}}
   *
   * @param value as {@link NormSpec#parse} reads it, for example {@code llama(eps=1e-5)}
   */
  public RowNormalizer setNorm(String value) {
    return with(norm, value);
  }

  /**
   * {@return the param: how wide the rows are} By default as the gain or the bias is; without those
   * each row is normalised by its own width.
   */
  public IntParam width() {
    return width;
  }

  /** {@return the value of {@link #width}} */
  public int getWidth() {
    return (int) getOrDefault(width);
  }

  /**
   * {@return this, with another value of {@link #width}}
   *
   * @param value elements per row, 1 or more
   */
  public RowNormalizer setWidth(int value) {
    return with(width, value);
  }

  /**
   * {@return the param: the learned factor of each element of a row} Without one nothing is
   * multiplied.
   */
  public DoubleArrayParam gain() {
    return gain;
  }

  /** {@return the value of {@link #gain}} */
  public double[] getGain() {
    return getOrDefault(gain);
  }

  /**
   * {@return this, with another value of {@link #gain}}
   *
   * @param value copied; as many elements as a row; numbers of narrower types are exact in it
   */
  public RowNormalizer setGain(double[] value) {
    return with(gain, value == null ? null : value.clone());
  }

  /**
   * {@return the param: what the gain is stored in, which only the cast order of T5 asks for} By
   * default float64.
   */
  public Param<String> gainType() {
    return gainType;
  }

  /** {@return the value of {@link #gainType}} */
  public String getGainType() {
    return getOrDefault(gainType);
  }

  /**
   * {@return this, with another value of {@link #gainType}}
   *
   * @param value {@code float16} or another name that {@link ElementType#ofName} knows
   */
  public RowNormalizer setGainType(String value) {
    return with(gainType, value);
  }

  /**
   * {@return the param: the learned term added to each element of a row} Without one nothing is
   * added.
   */
  public DoubleArrayParam bias() {
    return bias;
  }

  /** {@return the value of {@link #bias}} */
  public double[] getBias() {
    return getOrDefault(bias);
  }

  /**
   * {@return this, with another value of {@link #bias}}
   *
   * @param value copied; as many elements as a row
   */
  public RowNormalizer setBias(double[] value) {
    return with(bias, value == null ? null : value.clone());
  }

  /**
   * {@return the param: what a binary column holds} Needed for those, and to be left alone for
   * others.
   */
  public Param<String> inputType() {
    return inputType;
  }

  /** {@return the value of {@link #inputType}} */
  public String getInputType() {
    return getOrDefault(inputType);
  }

  /**
   * {@return this, with another value of {@link #inputType}}
   *
   * @param value {@code float16} or another name that {@link ElementType#ofName} knows
   */
  public RowNormalizer setInputType(String value) {
    return with(inputType, value);
  }

  /** {@return the param: the type of the result's elements} By default the input's. */
  public Param<String> outputType() {
    return outputType;
  }

  /** {@return the value of {@link #outputType}} */
  public String getOutputType() {
    return getOrDefault(outputType);
  }

  /**
   * {@return this, with another value of {@link #outputType}}
   *
   * @param value {@code float16} or another name that {@link ElementType#ofName} knows
   */
  public RowNormalizer setOutputType(String value) {
    return with(outputType, value);
  }

  /**
   * {@return the param: what is done with rows of the wrong width, empty ones and those with null
   * elements: {@code error}, the default, fails the job; {@code keep} makes the result null; {@code
   * skip} leaves them out}
   */
  public Param<String> handleInvalid() {
    return handleInvalid;
  }

  /** {@return the value of {@link #handleInvalid}, or its default} */
  public String getHandleInvalid() {
    return getOrDefault(handleInvalid);
  }

  /**
   * {@return this, with another value of {@link #handleInvalid}}
   *
   * @param value {@code error}, {@code keep} or {@code skip}
   */
  public RowNormalizer setHandleInvalid(String value) {
    return with(handleInvalid, value);
  }
}
