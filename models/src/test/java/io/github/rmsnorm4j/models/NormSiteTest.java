package io.github.rmsnorm4j.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.NormSpec;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A norm's names, alike in every layer. */
class NormSiteTest {
  private static String general(int layer, String text, String... beginnings) {
    return new NormSite(
            "norm",
            layer,
            NormSpec.LLAMA,
            4,
            false,
            false,
            Optional.empty(),
            Optional.empty(),
            List.of(),
            Optional.empty(),
            Optional.empty(),
            List.of(beginnings))
        .general(text);
  }

  @Test
  void theNumberOfTheLayerAloneIsReplaced() {
    String block = "encoder.block.";
    assertThat(general(1, "encoder.block.1.layer.1.wi, encoder.block.1.layer.1.wo", block))
        .isEqualTo("encoder.block.N.layer.1.wi, encoder.block.N.layer.1.wo");
    assertThat(general(1, "encoder.block.0.layer.1.wi, encoder.block.10.layer.1.wi", block))
        .isEqualTo("encoder.block.0.layer.1.wi, encoder.block.10.layer.1.wi");
    assertThat(general(1, "other.encoder.block.1.q", block)).isEqualTo("other.encoder.block.1.q");
    assertThat(general(-1, "decoder.block.1.q")).isEqualTo("decoder.block.1.q");
  }

  /** Rules of a map may name consumers elsewhere, and use characters that patterns give a sense. */
  @Test
  void consumersMayBeginOtherwise() {
    assertThat(general(3, "norms.3.a into layers.3.q", "norms.", "layers."))
        .isEqualTo("norms.N.a into layers.N.q");
    assertThat(general(3, "3.norm", "")).isEqualTo("N.norm");
    assertThat(general(3, "a$1+_3_norm", "a$1+_")).isEqualTo("a$1+_N_norm");
  }
}
