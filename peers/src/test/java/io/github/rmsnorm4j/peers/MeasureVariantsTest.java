package io.github.rmsnorm4j.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.KernelKind;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Entry;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Figure;
import io.github.rmsnorm4j.benchmarks.peers.Variant;
import io.github.rmsnorm4j.measure.Effort;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MeasureVariantsTest {
  /** A kind without its kernels fails, so that no figure is that of another kind. */
  @ParameterizedTest
  @EnumSource
  void aJvmOfEachKindMeasuresAVariantAndTheNorm(KernelKind kind) throws IOException {
    assumeTrue(KernelKind.here().contains(kind), "not on this processor");
    Contest token = Contest.forward(Kernel.LAYER_NORM, 1, 4096);

    Figure figure = MeasureVariants.inFreshJvm(token, kind, true);

    assertThat(figure.contest()).isEqualTo(token);
    assertThat(figure.threads()).isOne();
    assertThat(figure.polluted()).isTrue();
    assertThat(figure.entries())
        .extracting(Entry::system)
        .containsExactly(Variant.NORM.system(kind), Variant.MODULATED.system(kind));
    assertThat(figure.entries())
        .allMatch(entry -> entry.refused() == null && !entry.wrong())
        .allMatch(entry -> entry.nanos().size() == Effort.QUICK.rounds())
        .allMatch(entry -> entry.median() > 0);
  }
}
