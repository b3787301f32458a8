package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.peers.Definition.Output;
import io.github.rmsnorm4j.reference.Casts;
import io.github.rmsnorm4j.reference.Definitions;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.IntStream;

/** What variants must give, by the definitions of the library's reference. */
final class VariantOutputs {
  private VariantOutputs() {}

  static Output withoutGain() {
    return (place, r) -> Definitions.rmsNorm(place.row(place.x, r), null, null, place.epsilon);
  }

  static Output l2() {
    double epsilon = NormSpec.L2.epsilon().getAsDouble();
    return (place, r) -> Definitions.l2Norm(place.row(place.x, r), null, null, epsilon);
  }

  static Output roundedRoot(ElementType type) {
    return (place, r) -> {
      double[] x = place.row(place.x, r);
      double square = Definitions.meanSquare(x, x.length);
      double root = Definitions.root(square, place.epsilon, EpsilonPlacement.INSIDE);
      return Casts.roundedRoot(x, 1 / root, type, null);
    };
  }

  /** The gain is of a row, or of a group. */
  static Output grouped(int count, Function<Place, double[]> gain) {
    return (place, r) -> {
      double[] x = place.row(place.x, r);
      double[] gains = gain.apply(place);
      return IntStream.range(0, count)
          .mapToObj(
              g -> {
                double[] group = Definitions.group(x, count, g);
                boolean shared = gains.length == group.length;
                double[] ofGroup = shared ? gains : Definitions.group(gains, count, g);
                return Definitions.rmsNorm(group, ofGroup, null, place.epsilon);
              })
          .flatMapToDouble(Arrays::stream)
          .toArray();
    };
  }

  static Output gated(Gate gate) {
    return (place, r) -> {
      double[] x = place.row(place.x, r);
      double[] factors = Definitions.gate(place.second(r), gate);
      return gate.isAfter()
          ? product(Definitions.rmsNorm(x, place.gain, null, place.epsilon), factors)
          : Definitions.rmsNorm(product(x, factors), place.gain, null, place.epsilon);
    };
  }

  private static double[] product(double[] a, double[] b) {
    double[] product = new double[a.length];
    Arrays.setAll(product, i -> a[i] * b[i]);
    return product;
  }

  /** LayerNorm with 1 + s and t of each sample; t are the rows after s. */
  static Output modulated(int samples) {
    return (place, r) -> {
      int sample = r / (place.contest.rows() / samples);
      double[] gain = Definitions.offsetGain(place.second(sample), 1);
      double[] bias = place.second(samples + sample);
      return Definitions.layerNorm(place.row(place.x, r), gain, bias, place.epsilon);
    };
  }
}
