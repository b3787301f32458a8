package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.Quantizer;
import java.io.IOException;
import java.lang.foreign.Arena;
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
public record NormSettings(
    NormSpec spec, StoredParameter gain, StoredParameter bias, Integer threads) {
  /** Without a gain there is nothing that a preset's offset could be added to. */
  public NormSettings {
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
    return norm(width, backend, Quantizer.defaults());
  }

  /** Likewise, with the rule of codes and scales. */
  Norm norm(int width, Backend backend, Quantizer quantizer) throws IOException {
    NormBuilder<?> builder = spec.builder(width).backend(backend).quantizer(quantizer);
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
    return builder.build();
  }
}
