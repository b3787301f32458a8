package io.github.rmsnorm4j.checkpoint.rewrite;

import io.github.rmsnorm4j.checkpoint.ModelNorms;
import io.github.rmsnorm4j.checkpoint.NormSite;
import io.github.rmsnorm4j.checkpoint.Projection;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.reference.Definitions;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;

/**
 * One of the two models of a proof.
 *
 * @param norms its norms, found in it by the rules of its family
 * @param tensors its tensors
 */
record Side(ModelNorms norms, TensorFile tensors) {

  /** What a norm multiplies by: 1 if it has no gain. */
  double[] gain(NormSite site) throws IOException {
    double[] gain = vector(site.gain(), site.width());
    for (int i = 0; i < gain.length; i++) {
      gain[i] = site.gain().isPresent() ? gain[i] + site.gainForm().offset() : 1;
    }
    return gain;
  }

  double[] bias(NormSite site) throws IOException {
    return vector(site.bias(), site.width());
  }

  double[] bias(Projection projection, int outputs) throws IOException {
    return vector(projection.bias(), outputs);
  }

  private double[] vector(Optional<String> tensor, int length) throws IOException {
    return tensor.isPresent()
        ? Blocks.vector(tensors, tensors.tensor(tensor.get()))
        : new double[length];
  }

  /** What the output of a matrix is multiplied by. */
  double scale(Projection projection) {
    return norms.head().filter(projection::equals).isPresent() ? norms.headScale() : 1;
  }

  /** A row as the norm makes it, without gain and bias. */
  static double[] normalise(NormSite site, double[] row) {
    return site.kind() == NormSite.Kind.RMS
        ? Definitions.rmsNorm(row, null, null, site.epsilon())
        : Definitions.layerNorm(row, null, null, site.epsilon());
  }

  /** A row without its mean. */
  static double[] centred(double[] row) {
    double mean = Definitions.mean(row);
    return Arrays.stream(row).map(value -> value - mean).toArray();
  }
}
