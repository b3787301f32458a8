package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.models.transformer.Placement;
import java.util.Locale;

/**
 * A kind of model that is compared with others.
 *
 * @param norm which norm
 * @param placement where
 * @param layers how many blocks
 */
public record Contender(TrainedNorm norm, Placement placement, int layers) {
  /** As a reader knows it: {@code RMSNorm}, {@code RMSNorm post, 48 blocks}. */
  String name(boolean depth) {
    if (!depth) {
      return norm.title;
    }
    String place = norm == TrainedNorm.NONE ? "" : " " + placementName();
    return norm.title + place + ", " + layers + " blocks";
  }

  /** Without the depth: {@code RMSNorm post}. */
  String kind() {
    return norm == TrainedNorm.NONE ? norm.title : norm.title + " " + placementName();
  }

  private String placementName() {
    return placement.name().toLowerCase(Locale.ROOT);
  }
}
