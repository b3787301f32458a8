package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.LayerNorm;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;

/**
 * {@link LayerNorm} of the rows of a column: every row less its mean, divided by its standard
 * deviation.
 *
 * <pre>{@code
 * Dataset<Row> normed =
 *     new LayerNormalizer()
 *         .setInputCol("embedding")
 *         .setOutputCol("normed")
 *         .setGain(gain)
 *         .setBias(bias)
 *         .transform(dataset);
 * }</pre>
 */
public final class LayerNormalizer extends RowNormalizer<LayerNormalizer> {
  private static final long serialVersionUID = 1;

  /** A stage with a name of its own. */
  public LayerNormalizer() {
    this(Identifiable$.MODULE$.randomUID("layerNormalizer"));
  }

  /**
   * A stage of a name.
   *
   * @param uid its name, unique among stages
   */
  public LayerNormalizer(String uid) {
    super(uid);
  }

  /**
   * What reads a stage that was saved.
   *
   * @return a reader
   */
  public static MLReader<LayerNormalizer> read() {
    return new DefaultParamsReader<>();
  }

  /**
   * Reads a stage that was saved.
   *
   * @param path where it is
   * @return the stage, with its name and params
   */
  public static LayerNormalizer load(String path) {
    return read().load(path);
  }

  @Override
  LayerNormalizer self() {
    return this;
  }

  @Override
  NormSettings settings() {
    return new NormSettings(
        true,
        null,
        null,
        orNull(width(), Integer.class),
        orNull(gain()),
        null,
        orNull(gainOffset(), Double.class),
        orNull(bias()),
        orNull(epsilon(), Double.class),
        placementOrNull(),
        null,
        null);
  }

  /**
   * The same stage with other values.
   *
   * @param extra params that are to have other values
   * @return a copy of the same name
   */
  @Override
  public LayerNormalizer copy(ParamMap extra) {
    return defaultCopy(extra);
  }
}
