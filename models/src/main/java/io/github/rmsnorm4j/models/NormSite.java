package io.github.rmsnorm4j.models;

import io.github.rmsnorm4j.NormSpec;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A norm at its place in a stored model. Names are those of the model's tensors.
 *
 * @param name the norm, for example {@code model.layers.3.input_layernorm}
 * @param layer the layer that it is in, from 0; -1 outside of the layers
 * @param spec which norm, with the model's epsilon; its cast order is that of the architecture's
 *     code
 * @param width elements of a row
 * @param heads whether rows are heads, and a consumer takes the outputs of several, one after the
 *     other
 * @param epsilonAssumed whether the model does not set epsilon, so that it is the family's default;
 *     false also where the family has no setting for it
 * @param gain the tensor of the gain, which stores it less the offset of the spec; empty if the
 *     norm has none
 * @param bias the tensor of the bias; empty if the norm has none
 * @param consumers the matrices that its output is multiplied by, in the model's order; empty if
 *     something other than matrices takes it
 * @param keptBecause why the gain cannot be moved into the consumers, as the end of a sentence "is
 *     left alone: ..."; empty if it can
 * @param note what the model does not tell of the norm: where programs differ
 * @param beginnings how the names of its tensors and its consumers' begin, up to the number of its
 *     layer; empty outside of the layers
 */
public record NormSite(
    String name,
    int layer,
    NormSpec spec,
    int width,
    boolean heads,
    boolean epsilonAssumed,
    Optional<String> gain,
    Optional<String> bias,
    List<Projection> consumers,
    Optional<String> keptBecause,
    Optional<String> note,
    List<String> beginnings) {

  private static final Pattern EXPERT = Pattern.compile("\\bexperts\\.\\d+");

  /** Copies the lists. */
  public NormSite {
    consumers = List.copyOf(consumers);
    beginnings = List.copyOf(beginnings);
  }

  /**
   * {@return a text with N instead of the number of the layer in names, so that the same site reads
   * alike in every layer} Other numbers stay: of {@code encoder.block.1.layer.1} the second. The
   * number of an expert becomes {@code *}.
   *
   * @param text names of tensors of this norm and its consumers, and words between them
   */
  public String general(String text) {
    String general = text;
    for (String beginning : beginnings) {
      Pattern name = Pattern.compile("(?<![\\w.])" + Pattern.quote(beginning + layer) + "(?!\\d)");
      general = name.matcher(general).replaceAll(Matcher.quoteReplacement(beginning + "N"));
    }
    return EXPERT.matcher(general).replaceAll("experts.*");
  }
}
