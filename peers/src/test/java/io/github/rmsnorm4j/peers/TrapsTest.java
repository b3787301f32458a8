package io.github.rmsnorm4j.peers;

import static org.assertj.core.api.Assertions.assertThat;

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

  @Test
  void thisLibrarysBitsDependOnTheRowAlone() {
    List<Change> changes = Changes.run();

    assertThat(changes)
        .filteredOn(change -> change.system().startsWith(Systems.OWN))
        .hasSize(6)
        .allMatch(change -> change.differing() == 0);
    assertThat(changes).extracting(Change::system).contains(Systems.ONEDNN, Systems.JAVA_LOOP);
  }
}
