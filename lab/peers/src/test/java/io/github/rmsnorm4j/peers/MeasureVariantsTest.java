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
import java.util.List;
import org.junit.jupiter.api.Test;
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

  @Test
  void threeCallsWhoseLoopIsNotCompiledHaveNoTime() {
    Entry two = entry(Variant.SANDWICH_IN_TWO, 10);
    Entry three = entry(Variant.SANDWICH_IN_THREE, 20);
    assertThat(MeasureVariants.judged(List.of(two, three), KernelKind.AVX2))
        .containsExactly(two, three);

    Entry slow = entry(Variant.SANDWICH_IN_THREE, 21);
    List<Entry> judged = MeasureVariants.judged(List.of(two, slow), KernelKind.AVX2);
    assertThat(judged).first().isEqualTo(two);
    assertThat(judged.getLast().refused()).isEqualTo("the loop that adds was not compiled");
    assertThat(judged.getLast().nanos()).isEmpty();
  }

  private static Entry entry(Variant variant, double nanos) {
    return new Entry(variant.system(KernelKind.AVX2), 0, 1, null, List.of(nanos));
  }
}
