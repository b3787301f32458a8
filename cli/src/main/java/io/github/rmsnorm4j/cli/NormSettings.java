package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The norm that is wanted, of rows of any width.
 *
 * @param spec its choices
 * @param gain the gain, or null
 * @param bias the bias, or null
 * @param threads how many at most, null for the library's default
 */
record NormSettings(NormSpec spec, StoredParameter gain, StoredParameter bias, Integer threads) {
  /** What torch.nn.functional.normalize divides by at least. */
  private static final double LEAST_LENGTH = 1e-12;

  /** Without a gain there is nothing that a preset's offset could be added to. */
  NormSettings {
    spec = gain == null ? spec.withGainOffset(0) : spec;
  }

  List<StoredParameter> parameters() {
    return Stream.of(gain, bias).filter(Objects::nonNull).toList();
  }

  /**
   * Makes the norm for rows of a width.
   *
   * @throws IllegalArgumentException if a choice cannot be
   */
  Norm norm(int width, Backend backend) throws IOException {
    Norm.Builder<?> builder = builder(spec, width, backend);
    try (Arena arena = Arena.ofConfined()) {
      if (gain != null) {
        builder.gain(gain.read(arena));
      }
      if (bias != null) {
        builder.bias(bias.read(arena));
      }
    }
    return builder.build();
  }

  /**
   * Makes an L2 normalisation, {@code x / max(|x|, 1e-12)}: the length of a row is the root of its
   * mean square, times the root of the width.
   */
  Norm l2(int width, Backend backend) {
    double root = Math.sqrt(width);
    double[] gains = new double[width];
    Arrays.fill(gains, 1 / root);
    NormSpec floor =
        spec.withEpsilon(LEAST_LENGTH / root).withEpsilonPlacement(EpsilonPlacement.FLOOR);
    return builder(floor, width, backend).gain(gains).build();
  }

  private Norm.Builder<?> builder(NormSpec of, int width, Backend backend) {
    Norm.Builder<?> builder = of.builder(width).backend(backend);
    return threads == null ? builder : builder.threads(threads);
  }
}
