package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.lowering.Kernels;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A kernel is tried before it is used: one with plain Java's bits passes, any other does not. */
class TrialTest {
  private static final ElementType[] TYPES = {
    ElementType.FLOAT32, ElementType.BFLOAT16, ElementType.FLOAT16
  };
  private static final int[] WIDTHS = {0, 32, 64, 160, 256};

  @BeforeEach
  void needsMachineCode() {
    assumeThat(Machine.here().bits()).as(Machine.here().whyNot()).isPositive();
  }

  static List<Part> parts(
      boolean centred, ElementType x, ElementType y, boolean adds, boolean gain, boolean bias) {
    Forward forward =
        new Forward(
            new Storage(false, Kernels.narrow(0, false)),
            centred,
            false,
            EpsilonPlacement.INSIDE,
            x,
            adds ? x : null,
            ResidualRounding.FIRST,
            adds,
            y,
            null,
            gain,
            bias);
    return List.of(forward.statistic(), forward.roots(), forward.output());
  }

  @ParameterizedTest
  @ValueSource(ints = {256, 512})
  void everyKernelPasses(int bits) {
    assumeThat(bits).isLessThanOrEqualTo(Machine.here().bits());
    for (ElementType x : TYPES) {
      for (ElementType y : TYPES) {
        for (int choice = 0; choice < 16; choice++) {
          boolean centred = (choice & 1) != 0;
          boolean adds = (choice & 2) != 0;
          boolean streams = (choice & 8) != 0;
          List<Part> parts = parts(centred, x, y, adds, (choice & 4) != 0, centred);
          for (int width : WIDTHS) {
            MachineKernel kernel = MachineKernel.of(parts, bits, width, streams);
            assertThat(kernel)
                .as("%s to %s, choice %d, width %d, %d bits", x, y, choice, width, bits)
                .isNotNull();
          }
        }
      }
    }
  }

  /** A kernel that is right, for something else. */
  @ParameterizedTest
  @ValueSource(ints = {0, 64})
  void anotherKernelDoesNot(int width) {
    int bits = Machine.here().bits();
    ElementType type = ElementType.FLOAT32;
    List<Part> wanted = parts(false, type, type, false, true, false);
    Target target = MachineKernel.target(wanted, bits, width, false);
    assertThat(Trial.passes(target, MachineKernel.of(wanted, bits, width, false))).isTrue();
    for (List<Part> other :
        List.of(
            parts(false, type, type, false, false, false),
            parts(true, type, type, false, true, false),
            parts(false, ElementType.BFLOAT16, type, false, true, false))) {
      MachineKernel kernel = MachineKernel.of(other, bits, width, false);
      assertThat(Trial.passes(target, kernel)).as(other.toString()).isFalse();
    }
  }
}
