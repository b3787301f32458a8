package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * What the options say of the norm; each but the kind may be null, which leaves it to the library.
 *
 * @param kind which of the two
 * @param epsilon what is added to the mean square or the variance
 * @param threads how many at most
 * @param gain the gain
 * @param bias the bias
 */
record NormSettings(
    Kind kind, Double epsilon, Integer threads, StoredParameter gain, StoredParameter bias) {
  /** Named as on the command line. */
  enum Kind {
    rms,
    layer
  }

  List<StoredParameter> parameters() {
    return Stream.of(gain, bias).filter(Objects::nonNull).toList();
  }

  /**
   * Makes the norm for rows of a width.
   *
   * @throws IllegalArgumentException if a setting cannot be
   */
  Norm norm(int width, Backend backend) throws IOException {
    return switch (kind) {
      case rms -> configure(RmsNorm.builder(width), backend).build();
      case layer -> configure(LayerNorm.builder(width), backend).build();
    };
  }

  private <B extends Norm.Builder<B>> B configure(B builder, Backend backend) throws IOException {
    builder.backend(backend);
    if (epsilon != null) {
      builder.epsilon(epsilon);
    }
    if (threads != null) {
      builder.threads(threads);
    }
    try (Arena arena = Arena.ofConfined()) {
      if (gain != null) {
        builder.gain(gain.read(arena));
      }
      if (bias != null) {
        builder.bias(bias.read(arena));
      }
    }
    return builder;
  }
}
