package io.github.rmsnorm4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class KernelChoiceTest {
  private static final Tensor TENSOR = new Tensor("t", Dtype.F16, List.of(1L << 10, 1L << 10));

  @Test
  void aLittleWorkIsDoneWithoutVectors() {
    assertThat(KernelChoice.forAll(List.of()).vectorBits()).isZero();
    assertThat(KernelChoice.forAll(Collections.nCopies(31, TENSOR)).vectorBits()).isZero();
  }

  @Test
  void muchWorkIsDoneWithTheBestThereIs() {
    assertThat(KernelChoice.forAll(Collections.nCopies(32, TENSOR))).isSameAs(Backend.best());
  }
}
