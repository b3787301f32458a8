package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.internal.codec.Float8;
import org.jspecify.annotations.Nullable;

/**
 * How rows of codes are stored.
 *
 * @param block elements that share a scale; 0 for those of a row
 * @param float8 the type of the codes; null for int8
 * @param given whether one scale is given for all blocks
 */
public record CodeFormat(CodeLayout layout, int block, @Nullable Float8 float8, boolean given) {
  /** Elements that share a scale. */
  public int block(int width) {
    return block == 0 ? width : block;
  }

  /** Bytes of a row, with the scales that are in the same memory. */
  public long rowBytes(int width) {
    return width + (long) (width / block(width)) * layout.more;
  }

  /** Scales of a row in memory of their own. */
  public int scales(int width) {
    return layout == CodeLayout.APART && !given ? width / block(width) : 0;
  }
}
