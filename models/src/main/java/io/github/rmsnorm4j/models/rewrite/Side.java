package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.Projection;
import io.github.rmsnorm4j.reference.Definitions;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
      gain[i] = site.gain().isPresent() ? gain[i] + site.spec().gainOffset() : 1;
    }
    return gain;
  }

  double[] bias(NormSite site) throws IOException {
    return vector(site.bias(), site.width());
  }

  /** What a matrix makes of the output of a norm, for some normalised rows. */
  SiteSums.Model model(NormSite site, Projection matrix, int inputs, int outputs, double[][] rows)
      throws IOException {
    boolean scaled = norms.head().filter(matrix::equals).isPresent();
    return new SiteSums.Model(
        heads(gain(site), inputs),
        heads(bias(site), inputs),
        vector(matrix.bias(), outputs),
        Stream.of(rows).map(row -> heads(row, inputs)).toArray(double[][]::new),
        scaled ? norms.headScale() : 1);
  }

  /** The input of a matrix: a row, or several heads that are all alike. */
  private static double[] heads(double[] head, int inputs) {
    double[] row = new double[inputs];
    Arrays.setAll(row, i -> head[i % head.length]);
    return row;
  }

  private double[] vector(Optional<String> tensor, int length) throws IOException {
    return tensor.isPresent()
        ? Blocks.vector(tensors, tensors.tensor(tensor.get()))
        : new double[length];
  }

  /** A row as the norm makes it, without gain, bias and gate. */
  static double[] normalise(NormSite site, double[] row) {
    int size = row.length / site.spec().groups().count(row.length);
    return IntStream.iterate(0, at -> at < row.length, at -> at + size)
        .mapToObj(at -> normaliseGroup(site, Arrays.copyOfRange(row, at, at + size)))
        .flatMapToDouble(Arrays::stream)
        .toArray();
  }

  private static double[] normaliseGroup(NormSite site, double[] group) {
    NormSpec spec = site.spec();
    double[] measured = spec.isCentred() ? centred(group) : group;
    double m = Definitions.meanSquare(measured, spec.part().elements(group.length));
    double squares = spec.isOfLength() ? m * group.length : m;
    double root = Definitions.root(squares, epsilon(site), spec.epsilonPlacement());
    return Arrays.stream(measured).map(value -> value / root).toArray();
  }

  /** The type of the rows decides only an epsilon that no one has set. */
  static double epsilon(NormSite site) {
    return site.spec().epsilon(ElementType.FLOAT32);
  }

  /** A row without its mean. */
  static double[] centred(double[] row) {
    double mean = Definitions.mean(row);
    return Arrays.stream(row).map(value -> value - mean).toArray();
  }
}
