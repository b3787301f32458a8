package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RowPart;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.bitset.BitSetMethods;

/**
 * What a row must be to be normalised. NaN and infinity may be in it: they propagate.
 *
 * @param width the only one, or null where every row has its own
 * @param leastWidth the smallest one of which the norm's part leaves an element
 * @param elementBytes of packed elements
 * @param nullable whether elements of arrays can be null
 */
record RowRules(Integer width, int leastWidth, int elementBytes, boolean nullable)
    implements Serializable {
  static RowRules of(NormSettings settings, RowColumn in, boolean nullable) {
    int least = leastWidth(NormSpec.parse(settings.norm()).part());
    return new RowRules(settings.width(), least, in.element().bytes(), nullable);
  }

  private static int leastWidth(RowPart part) {
    int least = 1;
    int most = Integer.MAX_VALUE;
    while (least < most) {
      int middle = least + (most - least) / 2;
      try {
        part.elements(middle);
        most = middle;
      } catch (IllegalArgumentException ignored) {
        least = middle + 1;
      }
    }
    return least;
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

  private String problem(int n) {
    if (width != null && n != width) {
      return "a row is %s wide, it must be %s".formatted(n, width);
    }
    if (n == 0) {
      return "a row is empty";
    }
    return n >= leastWidth
        ? null
        : "a row is %s wide, it must be %s or more for the norm's part".formatted(n, leastWidth);
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
}
