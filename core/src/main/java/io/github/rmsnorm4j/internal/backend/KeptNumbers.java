package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Mean and rstd of rows: between a frame and the arrays of a call, which keep them. */
public final class KeptNumbers {
  private final Frame frame;

  KeptNumbers(Frame frame) {
    this.frame = frame;
  }

  /** Begins with rows of a call. A mean that the forward pass did not keep is 0. */
  void begin(Call call) {
    double[][] given = call.given();
    if (call.choices().isCentred() && given != null && given[Forward.MEAN.place()] == null) {
      Arrays.fill(frame.of(Forward.MEAN), 0.0);
    }
  }

  /** Takes the numbers of rows that are given. */
  void takeGiven(Call call, long row, int rows) {
    double[][] given = call.given();
    for (int place = 0; given != null && place < given.length; place++) {
      if (given[place] != null) {
        System.arraycopy(given[place], (int) row, frame.ofRow[place], 0, rows);
      }
    }
  }

  /** Keeps the numbers of rows in range: rstd as the arithmetic has it. */
  void keep(Call call, long row, int rows) {
    copy(call, row, rows);
    if (call.kept() != null && !call.float64()) {
      round(call.kept()[Forward.RSTD.place()], (int) row, rows);
    }
  }

  private void copy(Call call, long row, int rows) {
    double[][] kept = call.kept();
    for (int place = 0; kept != null && place < kept.length; place++) {
      if (kept[place] != null) {
        System.arraycopy(frame.ofRow[place], 0, kept[place], (int) row, rows);
      }
    }
  }

  /** Rounds numbers of rows to float32; null where they are not kept. */
  public static void round(double @Nullable [] numbers, int row, int rows) {
    for (int r = row; numbers != null && r < row + rows; r++) {
      numbers[r] = (float) numbers[r];
    }
  }

  /** Keeps the numbers of a row out of range, whose elements are multiplied by a scale. */
  void keepOutOfRange(Call call, long row, double scale) {
    copy(call, row, 1);
    double[] rstd = call.kept() == null ? null : call.kept()[Forward.RSTD.place()];
    if (rstd != null) {
      rstd[(int) row] *= scale;
    }
  }
}
