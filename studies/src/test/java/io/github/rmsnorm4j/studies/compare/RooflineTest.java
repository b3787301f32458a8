package io.github.rmsnorm4j.studies.compare;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RooflineTest {
  private static final String ROOF = "memory (copy) and compute";

  /** No norm moves its tensors faster than a copy does, two in 500 ms. */
  private static SyntheticResults slow() {
    return new SyntheticResults().millis(Variant.RMS_NAIVE, 2000).millis(Variant.LAYER_NAIVE, 4000);
  }

  private static String page(SyntheticResults results) {
    return new ReportPage(results.results()).page().html();
  }

  @Test
  void aRoofAboveAllPointsIsDrawn() {
    assertThat(page(slow())).contains("Roofline", ROOF).doesNotContain("No roof is drawn");
  }

  @Test
  void aRoofThatAPointExceedsIsWithheld() {
    assertThat(page(slow().millis(Variant.RMS_FUSED, 100)))
        .contains("Roofline", "No roof is drawn")
        .doesNotContain(ROOF);
  }
}
