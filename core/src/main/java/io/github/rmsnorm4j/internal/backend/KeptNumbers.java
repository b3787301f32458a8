package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.util.Arrays;

/** Mean and rstd of rows: between a frame and the arrays of a call, which keep them. */
final class KeptNumbers {
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

  /** Keeps the numbers of rows in range. */
  void keep(Call call, long row, int rows) {
    keepMean(call, row, rows);
    if (call.rstd() != null) {
      double[] rstd = frame.of(Forward.RSTD);
      for (int r = 0; r < rows; r++) {
        call.rstd()[(int) row + r] = call.float64() ? rstd[r] : (float) rstd[r];
      }
    }
  }

  private void keepMean(Call call, long row, int rows) {
    if (call.mean() != null) {
      System.arraycopy(frame.of(Forward.MEAN), 0, call.mean(), (int) row, rows);
    }
  }

  /** Keeps the numbers of a row out of range, whose elements are multiplied by a scale. */
  void keepOutOfRange(Call call, long row, double scale) {
    keepMean(call, row, 1);
    if (call.rstd() != null) {
      call.rstd()[(int) row] = frame.of(Forward.RSTD)[0] * scale;
    }
  }
}
