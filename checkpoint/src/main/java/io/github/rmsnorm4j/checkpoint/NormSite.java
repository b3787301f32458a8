package io.github.rmsnorm4j.checkpoint;

import java.util.List;
import java.util.Optional;

/**
 * A norm at its place in a stored model. Names are those of the model's tensors.
 *
 * @param name the norm, for example {@code model.layers.3.input_layernorm}
 * @param layer the layer that it is in, from 0; -1 outside of the layers
 * @param kind which norm
 * @param width elements of a row
 * @param epsilon what is added to the mean square or the variance
 * @param castOrder where the norm rounds rows of 16 bits, as the architecture's code does: the name
 *     of a {@link io.github.rmsnorm4j.CastOrder} in lower case
 * @param gain the tensor of the gain; empty if the norm has none
 * @param gainForm how that tensor stores the gain
 * @param bias the tensor of the bias; empty if the norm has none
 * @param consumers the matrices that its output is multiplied by, in the model's order; empty if
 *     something other than matrices takes it
 * @param keptBecause why the gain cannot be moved into the consumers, as the end of a sentence "is
 *     left alone: ..."; empty if it can
 */
public record NormSite(
    String name,
    int layer,
    Kind kind,
    int width,
    double epsilon,
    String castOrder,
    Optional<String> gain,
    GainForm gainForm,
    Optional<String> bias,
    List<Projection> consumers,
    Optional<String> keptBecause) {

  /** Which norm. */
  public enum Kind {
    /** RMSNorm. */
    RMS,
    /** LayerNorm. */
    LAYER
  }

  /** Copies the list. */
  public NormSite {
    consumers = List.copyOf(consumers);
  }
}
