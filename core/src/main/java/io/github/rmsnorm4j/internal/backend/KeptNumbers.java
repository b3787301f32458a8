package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.RowNumbers;
import org.jspecify.annotations.Nullable;

/** Mean and rstd of rows: between what a kernel works on and the arrays of a call. */
public final class KeptNumbers {
  private KeptNumbers() {}

  /** Takes the numbers of rows that are given. A mean that the forward pass did not keep is 0. */
  public static void takeGiven(Call call, RowNumbers numbers, long row, int rows) {
    double[][] given = call.given();
    for (int place = 0; given != null && place < given.length; place++) {
      if (given[place] != null) {
        numbers.set(place, given[place], (int) row, rows);
      } else if (place == Forward.MEAN.place() && call.choices().isCentred()) {
        numbers.zero(place, rows);
      }
    }
  }

  /** Keeps the numbers of rows in range: rstd as the arithmetic has it. */
  public static void keep(Call call, RowNumbers numbers, long row, int rows) {
    copy(call, numbers, row, rows);
    double[] rstd = rstd(call);
    for (int r = 0; rstd != null && !call.float64() && r < rows; r++) {
      rstd[(int) row + r] = (float) rstd[(int) row + r];
    }
  }

  /** Keeps the numbers of a row out of range, whose elements are multiplied by a scale. */
  static void keepOutOfRange(Call call, RowNumbers numbers, long row, double scale) {
    copy(call, numbers, row, 1);
    double[] rstd = rstd(call);
    if (rstd != null) {
      rstd[(int) row] *= scale;
    }
  }

  private static void copy(Call call, RowNumbers numbers, long row, int rows) {
    double[][] kept = call.kept();
    for (int place = 0; kept != null && place < kept.length; place++) {
      if (kept[place] != null) {
        numbers.copy(place, rows, kept[place], (int) row);
      }
    }
  }

  private static double @Nullable [] rstd(Call call) {
    return call.kept() == null ? null : call.kept()[Forward.RSTD.place()];
  }
}
