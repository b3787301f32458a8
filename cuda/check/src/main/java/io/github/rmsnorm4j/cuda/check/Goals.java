package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.cuda.check.DeviceResults.Timed;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What is asked of the times: a share of the copy's bandwidth, and no more time than torch.
 *
 * @param judged how many goals there are figures for
 * @param missed those that are missed, a sentence each
 */
public record Goals(int judged, List<String> missed) {
  private static final double OF_TORCH = 1;

  /**
   * {@return which goals are met}
   *
   * @param times of contests
   */
  public static Goals of(List<Timed> times) {
    int judged = 0;
    List<String> missed = new ArrayList<>();
    for (Timed timed : times) {
      if (!Double.isNaN(timed.ofCopy())) {
        judged++;
        if (missesCopy(timed)) {
          missed.add(
              text(
                  "%s: %.2f of the copy's bandwidth, the goal is %.2f",
                  timed.contest(), timed.ofCopy(), timed.contest().goal()));
        }
      }
      if (hasGoalOfTorch(timed)) {
        judged++;
        if (missesTorch(timed)) {
          missed.add(
              text("%s: %.2f of torch's time, the goal is 1.00", timed.contest(), timed.ofTorch()));
        }
      }
    }
    return new Goals(judged, List.copyOf(missed));
  }

  /** Judges the figure as the tables show it. */
  static boolean missesCopy(Timed timed) {
    return rounded(timed.ofCopy()) < timed.contest().goal();
  }

  static boolean missesTorch(Timed timed) {
    return hasGoalOfTorch(timed) && rounded(timed.ofTorch()) > OF_TORCH;
  }

  /** With a residual torch makes two calls, which is no fair goal. */
  private static boolean hasGoalOfTorch(Timed timed) {
    return timed.contest().job() != Contest.Job.RESIDUAL && !Double.isNaN(timed.ofTorch());
  }

  private static double rounded(double ratio) {
    return Math.round(ratio * 100) / 100.0;
  }

  private static String text(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
