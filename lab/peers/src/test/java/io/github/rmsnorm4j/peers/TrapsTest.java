package io.github.rmsnorm4j.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Change;
import io.github.rmsnorm4j.benchmarks.peers.PeerResults.Trap;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import java.util.List;
import org.junit.jupiter.api.Test;

class TrapsTest {
  @Test
  void thisLibraryIsRightWhereOthersAreNot() {
    List<Trap> traps = Traps.run();

    assertThat(traps)
        .filteredOn(trap -> trap.system().startsWith(Systems.OWN))
        .hasSizeGreaterThan(10)
        .allMatch(trap -> trap.error() <= trap.allowed());
    assertThat(traps)
        .filteredOn(trap -> trap.refused() == null && !(trap.error() <= trap.allowed()))
        .extracting(Trap::system)
        .contains(
            Systems.ONEDNN,
            Systems.LIBTORCH_RMS_NORM,
            Systems.LIBTORCH_LAYER_NORM,
            Systems.FORMULA,
            Systems.ONNX_RUNTIME + "RMSNormalization",
            Systems.JAVA_LOOP);
  }

  /** Each system's gradient is that of its own output, but for the one that is known not to be. */
  @Test
  void gradientsAreThoseOfTheOutputButForOneDnnsRmsNorm() {
    List<Trap> gradients =
        Traps.run().stream().filter(trap -> trap.input().endsWith("of its own output")).toList();
    assertThat(gradients).hasSizeGreaterThanOrEqualTo(8);
    for (Trap trap : gradients) {
      boolean knownWrong =
          trap.system().equals(Systems.ONEDNN) && trap.contest().kernel() == Kernel.RMS_NORM;
      assertThat(trap.error() <= trap.allowed()).as(trap.toString()).isEqualTo(!knownWrong);
    }
  }

  @Test
  void thisLibrarysBitsDependOnTheRowAlone() {
    List<Change> changes = Changes.run();

    assertThat(changes)
        .filteredOn(change -> change.system().startsWith(Systems.OWN))
        .hasSize(8)
        .allMatch(change -> change.differing() == 0);
    assertThat(changes).extracting(Change::system).contains(Systems.ONEDNN, Systems.JAVA_LOOP);
  }
}
