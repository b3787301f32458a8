package io.github.rmsnorm4j.models.check;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Optional;

/**
 * The scales of quantised rows without gaps.
 *
 * @param rows the rows
 */
record QuantizedScales(QuantizedRows rows) {
  private int ofRow() {
    return rows.width() / rows.type().block(rows.width());
  }

  private float get(long i) {
    if (rows.scales() != null) {
      return rows.scales().get(JAVA_FLOAT_UNALIGNED, i * Float.BYTES);
    }
    QuantizedType type = rows.type();
    long at = i * type.rowBytes(type.block(rows.width()));
    return type == QuantizedType.Q8_K
        ? rows.codes().get(JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), at)
        : Float.float16ToFloat(
            rows.codes().get(JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), at));
  }

  /** {@return how many of them are NaN and in which row the first is, in a sentence} */
  Optional<String> nan() {
    long scales = rows.rows() * ofRow();
    long count = 0;
    long first = -1;
    for (long i = 0; i < scales; i++) {
      if (Float.isNaN(get(i))) {
        first = count == 0 ? i / ofRow() : first;
        count++;
      }
    }
    return count == 0
        ? Optional.empty()
        : Optional.of(
            String.format(
                Locale.ROOT,
                "%,d of %,d scales that were compared %s NaN in Y, the first in row %,d of these rows (counted from 0).",
                count,
                scales,
                count == 1 ? "is" : "are",
                first));
  }
}
