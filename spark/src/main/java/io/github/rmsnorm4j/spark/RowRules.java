package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.Norm;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.bitset.BitSetMethods;

/**
 * What a row must be to be normalised: as wide as the settings say, and as their norm can be. NaN
 * and infinity may be in it: they propagate.
 */
final class RowRules implements Serializable {
  private static final long serialVersionUID = 1;

  private final NormSettings settings;
  private final int elementBytes;
  private final boolean nullable;

  /** That of the last valid row, which most often is as wide as the next. */
  private transient volatile Norm last;

  /**
   * Rules for a column.
   *
   * @param settings of the norm
   * @param elementBytes of packed elements
   * @param nullable whether elements of arrays can be null
   */
  RowRules(NormSettings settings, int elementBytes, boolean nullable) {
    this.settings = settings;
    this.elementBytes = elementBytes;
    this.nullable = nullable;
  }

  NormSettings settings() {
    return settings;
  }

  /** The norm for valid rows of a width. */
  Norm norm(int width) {
    Norm norm = last;
    return norm != null && norm.width() == width ? norm : settings.norm(width);
  }

  private String problem(int width) {
    Norm norm = last;
    if (norm != null && norm.width() == width) {
      return null;
    }
    Integer wanted = settings.width();
    if (wanted != null && width != wanted) {
      return "a row is %s wide, it must be %s".formatted(width, wanted);
    }
    if (width == 0) {
      return "a row is empty";
    }
    try {
      last = settings.norm(width);
      return null;
    } catch (IllegalArgumentException e) {
      return "a row is %s wide: %s".formatted(width, e.getMessage());
    }
  }

  /** What is wrong with an array, a vector or packed elements; null if nothing is. */
  String problem(Object row) {
    return switch (row) {
      case ArrayData array -> {
        String problem = problem(array.numElements());
        yield problem == null && nullable ? nullProblem(array) : problem;
      }
      case InternalRow vector -> problem(width(vector));
      default -> {
        int bytes = ((byte[]) row).length;
        yield bytes % elementBytes == 0
            ? problem(bytes / elementBytes)
            : "a row has %s bytes, an element %s".formatted(bytes, elementBytes);
      }
    };
  }

  /** Of a vector of Spark ML as it is stored: kind, width if it is sparse, indices, values. */
  private static int width(InternalRow vector) {
    return vector.isNullAt(1) ? vector.getArray(3).numElements() : vector.getInt(1);
  }

  private static String nullProblem(ArrayData row) {
    int n = row.numElements();
    if (row instanceof UnsafeArrayData unsafe && !hasNull(unsafe, n)) {
      return null;
    }
    for (int i = 0; i < n; i++) {
      if (row.isNullAt(i)) {
        return "element %s of a row is null".formatted(i);
      }
    }
    return null;
  }

  /** Looks at 64 elements at once: at the bits that lie between the length and the elements. */
  private static boolean hasNull(UnsafeArrayData row, int n) {
    long bits = row.getBaseOffset() + Long.BYTES;
    return BitSetMethods.anySet(row.getBaseObject(), bits, (n + 63L) / 64);
  }

  /** Equal rules make equal plans. */
  @Override
  public boolean equals(Object other) {
    return other instanceof RowRules rules
        && settings.equals(rules.settings)
        && elementBytes == rules.elementBytes
        && nullable == rules.nullable;
  }

  @Override
  public int hashCode() {
    return settings.hashCode();
  }
}
