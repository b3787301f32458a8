package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * The norms of families by their published code, against what an inspection prints of a small
 * model.
 */
class FamilyCodeTest {
  @Test
  void thePagesLinesAreRead() {
    assertThat(FamilyCode.all())
        .hasSizeGreaterThan(50)
        .allSatisfy(family -> assertThat(family.norms()).isNotEmpty());
  }
}
