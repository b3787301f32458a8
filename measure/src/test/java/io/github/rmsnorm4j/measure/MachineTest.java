package io.github.rmsnorm4j.measure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import java.util.List;
import org.junit.jupiter.api.Test;

class MachineTest {
  @Test
  void thisOneIsDescribed() {
    Machine machine = Machine.thisOne(Backend.scalar());
    assertThat(machine.cpu()).isNotBlank();
    assertThat(machine.processors()).isPositive();
    assertThat(machine.system()).contains(System.getProperty("os.name"));
    assertThat(machine.flags()).isEqualTo(ChildJvm.flags());
    assertThat(machine.vectorBits()).isZero();
  }

  @Test
  void slugFitsAFileName() {
    Machine machine =
        new Machine("AMD EPYC 7B13 (family 25, model 1)", 2, "", "", List.of(), "", 256);
    assertThat(machine.slug()).isEqualTo("amd-epyc-7b13-25-1");
  }

  @Test
  void flagsThatNameAPlaceCanBeLeftOut() {
    List<String> flags = List.of("-Xmx1g", "-Dhome=/a", "-Dhomes=/b");
    Machine machine = new Machine("a", 2, "b", "c", flags, "d", 256);
    assertThat(machine.withoutFlags(List.of("-Dhome=", "-Xlog")))
        .isEqualTo(new Machine("a", 2, "b", "c", List.of("-Xmx1g", "-Dhomes=/b"), "d", 256));
  }
}
