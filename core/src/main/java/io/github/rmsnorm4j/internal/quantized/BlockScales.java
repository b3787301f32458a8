package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.ScaleFloor;

/** The scale of a block, and what its elements are multiplied with or divided by. */
final class BlockScales {
  /** The largest int8 code. */
  private static final float CODES = 127;

  private static final float VLLM_INT8 = 0x1p-23f;
  private static final float VLLM_FLOAT8 = 512;
  private static final int FINITE = 0x7f7fffff;

  private final CodeFormat format;
  final CodeFactor factorOf;

  /** The largest code. */
  final float codes;

  /** The least scale, a power of two for int8 codes; 0 for none. */
  final float floor;

  float scale;

  /** 0 where all codes are 0. */
  float factor;

  BlockScales(CodeFormat format, CodeRule rule) {
    this.format = format;
    factorOf = format.float8() == null ? rule.factor() : CodeFactor.DIVISION;
    codes = format.float8() == null ? CODES : format.float8().largest;
    boolean hasFloor = rule.floor() == ScaleFloor.VLLM && format.layout() == CodeLayout.APART;
    float least = format.float8() == null ? VLLM_INT8 : 1 / (codes * VLLM_FLOAT8);
    floor = hasFloor ? least : 0;
  }

  /** Whether elements are divided by the factor, and not multiplied with it. */
  boolean divides() {
    return factorOf == CodeFactor.DIVISION;
  }

  /**
   * Finds the scale and the factor of a block.
   *
   * @param largest the pattern of the largest magnitude of the block; of a NaN if there is one
   */
  void of(int largest) {
    float magnitude = Float.intBitsToFloat(largest);
    scale = magnitude / codes;
    factor = 0;
    if (largest > FINITE) {
      scale = magnitude != magnitude ? Float.NaN : magnitude;
      return;
    }
    boolean isFloor = scale < floor;
    scale = isFloor ? floor : scale;
    float wanted =
        switch (factorOf) {
          case RATIO -> isFloor ? 1 / scale : codes / magnitude;
          case INVERSE -> 1 / scale;
          case DIVISION -> scale;
        };
    if (scale == 0 || wanted > Float.MAX_VALUE) {
      scale = 0;
    } else {
      factor = wanted;
    }
  }

  /** Finds them for {@link CodeLayout#Q8_K}, from the element of the largest magnitude. */
  void ofSigned(float element) {
    factor = -CODES / element;
    scale = 1 / factor;
    if (element != element) {
      scale = Float.NaN;
      factor = 0;
    } else if (Math.abs(element) > Float.MAX_VALUE) {
      factor = 0;
    } else if (Math.abs(factor) > Float.MAX_VALUE) {
      scale = 0;
      factor = 0;
    }
  }
}
