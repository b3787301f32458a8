package io.github.rmsnorm4j.cli.train;

import io.github.rmsnorm4j.transformer.NormKind;
import io.github.rmsnorm4j.transformer.Placement;
import java.util.Locale;

/**
 * A kind of model that is compared with others.
 *
 * @param norm which norm
 * @param placement where
 * @param layers how many blocks
 */
public record Contender(NormKind norm, Placement placement, int layers) {
  /** As a reader knows it: {@code RMSNorm}, {@code RMSNorm post, 48 blocks}. */
  String name(boolean depth) {
    if (!depth) {
      return normName();
    }
    String place = norm == NormKind.NONE ? "" : " " + placementName();
    return normName() + place + ", " + layers + " blocks";
  }

  /** Without the depth: {@code RMSNorm post}. */
  String kind() {
    return norm == NormKind.NONE ? normName() : normName() + " " + placementName();
  }

  String normName() {
    return switch (norm) {
      case LAYER_NORM -> "LayerNorm";
      case RMS_NORM -> "RMSNorm";
      case PARTIAL_RMS_NORM -> "pRMSNorm";
      case NONE -> "norm-free";
    };
  }

  private String placementName() {
    return placement.name().toLowerCase(Locale.ROOT);
  }
}
