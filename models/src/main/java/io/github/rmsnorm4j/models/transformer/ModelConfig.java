package io.github.rmsnorm4j.models.transformer;

import static io.github.rmsnorm4j.models.internal.Requirement.require;
import static io.github.rmsnorm4j.models.internal.Requirement.requireBetween;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.JsonFile;
import io.github.rmsnorm4j.formats.Tensor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a model is made of: all that decides its tensors' shapes and its formula.
 *
 * @param vocabulary how many tokens there are, V
 * @param width elements of a token's row in the residual stream, d
 * @param layers how many blocks
 * @param heads query heads, H
 * @param keyValueHeads key and value heads, K; divides H
 * @param headWidth elements of a head, h; its rotated part is even, as rotary positions need pairs
 * @param mlpWidth elements between the MLP's projections, F
 * @param maxPositions the longest sequence it is meant for
 * @param ropeTheta base of the rotary positions' wavelengths
 * @param tied whether the output head is the embedding
 * @param norm which norm there is where models have norms, each with a gain, and a LayerNorm with a
 *     bias; null for none: what a norm would be given goes on as it is
 * @param placement where blocks have norms
 * @param queryKeyNorm whether each query and key head has an RMSNorm before its rotation
 * @param initialRange standard deviation of initial matrices and embeddings
 * @param form what the blocks are made of, apart from their norms
 */
public record ModelConfig(
    int vocabulary,
    int width,
    int layers,
    int heads,
    int keyValueHeads,
    int headWidth,
    int mlpWidth,
    int maxPositions,
    double ropeTheta,
    boolean tied,
    NormSpec norm,
    Placement placement,
    boolean queryKeyNorm,
    double initialRange,
    BlockForm form) {

  /** More layers than any model has; bounds what a config file can ask for. */
  private static final int MOST_LAYERS = 10_000;

  /** Any size above this is a mistake, and products of two of them fit a long. */
  static final int LARGEST_SIZE = 1 << 24;

  /**
   * Checks that it is a model.
   *
   * @throws IllegalArgumentException if a number is out of its range or they do not fit together
   */
  public ModelConfig {
    requireBetween("vocabulary", vocabulary, 1, LARGEST_SIZE);
    requireBetween("width", width, 1, LARGEST_SIZE);
    requireBetween("layers", layers, 1, MOST_LAYERS);
    requireBetween("heads", heads, 1, LARGEST_SIZE);
    requireBetween("keyValueHeads", keyValueHeads, 1, LARGEST_SIZE);
    requireBetween("headWidth", headWidth, 1, LARGEST_SIZE);
    requireBetween("mlpWidth", mlpWidth, 1, LARGEST_SIZE);
    requireBetween("maxPositions", maxPositions, 1, Integer.MAX_VALUE);
    require(heads % keyValueHeads == 0, "keyValueHeads", keyValueHeads, "divide heads, " + heads);
    requireBetween("heads * headWidth", (long) heads * headWidth, 1, LARGEST_SIZE);
    requireFinite("ropeTheta", ropeTheta);
    requireFinite("initialRange", initialRange);
    if (placement == null || form == null) {
      throw new IllegalArgumentException("placement and form must not be null");
    }
    if (norm != null) {
      require(norm.gate() == Gate.NONE, "norm", norm, "have no gate");
      norm.part().elements(width);
    }
    int rotated = form.rotatedWidth(headWidth);
    String even =
        form.rotaryShare() == 1 ? "be even" : "have an even part of " + form.rotaryShare();
    boolean inPairs = rotated % 2 == 0 && (rotated > 0 || form.learnedPositions());
    require(inPairs, "headWidth", headWidth, even);
    boolean before = placement == Placement.PRE;
    require(
        before || !form.parallelResidual(), "placement", placement, "be PRE in parallel blocks");
  }

  private static void requireFinite(String name, double value) {
    boolean holds = value > 0 && value < Double.POSITIVE_INFINITY;
    require(holds, name, value, "be finite and above 0");
  }

  /**
   * {@return a config}
   *
   * @param vocabulary how many tokens there are
   * @param width elements of a token's row; heads must divide it unless headWidth is set
   * @param layers how many blocks
   * @param heads query heads
   * @param choose sets the options that are not to stay as they are
   * @throws IllegalArgumentException if it is no model
   */
  public static ModelConfig of(
      int vocabulary, int width, int layers, int heads, Consumer<ModelOptions> choose) {
    ModelOptions options = new ModelOptions(vocabulary, width, layers, heads);
    choose.accept(options);
    return options.build();
  }

  /**
   * {@return another config: the same model with another norm, and the same matrices}
   *
   * @param norm which, null for none
   * @throws IllegalArgumentException if its part leaves no element of a row
   */
  public ModelConfig withNorm(NormSpec norm) {
    return new ModelConfig(
        vocabulary,
        width,
        layers,
        heads,
        keyValueHeads,
        headWidth,
        mlpWidth,
        maxPositions,
        ropeTheta,
        tied,
        norm,
        placement,
        queryKeyNorm,
        initialRange,
        form);
  }

  /** Whether there are norms at all, other than those of heads. */
  boolean hasNorms() {
    return norm != null;
  }

  /**
   * {@return the norm of query and key heads, where they have one: an RMSNorm of whole heads, which
   * is the model's norm, or one with the epsilon of its LayerNorm}
   */
  public NormSpec headNorm() {
    if (norm == null) {
      return NormSpec.RMSNORM;
    }
    return norm.kind() == NormSpec.Kind.RMS_NORM
        ? norm.withPart(RowPart.WHOLE)
        : NormSpec.RMSNORM.withEpsilon(norm.epsilon(ElementType.FLOAT32));
  }

  /** Whether the last block is followed by a norm; after {@link Placement#POST} it ends in one. */
  boolean hasFinalNorm() {
    return hasNorms() && placement != Placement.POST;
  }

  /** The name of the output head's matrix. */
  String head() {
    return tied ? ParameterLayout.EMBEDDING : ParameterLayout.HEAD;
  }

  /** {@return the learned tensors, in the order in which they lie in memory and in files} */
  public List<Parameter> parameters() {
    return ParameterLayout.of(this);
  }

  /**
   * {@return the tensors of a file that has these parameters, in their order: float32, and of the
   * same names behind a prefix}
   *
   * @param prefix what the names begin with; may be empty
   */
  public List<Tensor> tensors(String prefix) {
    return parameters().stream().map(parameter -> parameter.tensor(prefix)).toList();
  }

  /**
   * {@return the config as the text of a {@code config.json}: as Hugging Face has it for a Llama or
   * a Qwen 3 where it is one, otherwise of a model type of our own}
   *
   * @throws IllegalArgumentException if the model is not of {@link BlockForm#LLAMA}
   */
  public String toJson() {
    return ConfigJson.write(this);
  }

  /**
   * {@return the config that a {@code config.json} says} What would change the formula and is not
   * known here is refused, not passed over.
   *
   * @param file named in messages; not read
   * @param text what the file holds, a JSON object
   * @throws FormatException if it is no config of a model that {@link ModelFolder#load} loads
   */
  public static ModelConfig parse(Path file, String text) throws FormatException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return ConfigReader.read(file, JsonFile.read(file, bytes));
  }

  /** {@return how many learned numbers there are: the sum over {@link #parameters()}} */
  public long parameterCount() {
    return parameters().stream().mapToLong(Parameter::elements).reduce(0, Math::addExact);
  }
}
