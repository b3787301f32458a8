package io.github.rmsnorm4j.studies.story;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import org.junit.jupiter.api.Test;

/** What {@code rmsnorm story --compare} changes in a model. */
class ChangeTest {
  @Test
  void anOwnChangeIsComparedOnce() {
    Change own = new Change(NormSpec.parse("layernorm(eps=0.5)"), false, true, ElementType.FLOAT32);
    assertThat(own).hasToString("layernorm(eps=0.5)");
    assertThat(Change.compared(own)).startsWith(Change.NONE).endsWith(own);
    assertThat(Change.compared(Change.NONE)).doesNotHaveDuplicates().doesNotContain(own);
  }
}
