package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import java.util.ArrayList;
import java.util.List;

/**
 * What is timed beside a copy on the device: a call of a norm with a gain, on rows that are larger
 * than the device's caches.
 *
 * @param kind of norm
 * @param job what is done
 * @param type of all rows
 * @param width elements of a row
 */
public record Contest(NormSpec.Kind kind, Job job, ElementType type, int width) {
  /** What is done with a norm. */
  public enum Job {
    /** y = norm(x). */
    FORWARD("forward", 2),
    /** residual += x, y = norm(residual). */
    RESIDUAL("forward, added to a residual", 4),
    /** dx from dy and the kept x. */
    BACKWARD("backward", 3),
    /** The same, with the gradient of the gain. */
    BACKWARD_GAIN("backward, with the gain's gradient", 3);

    private final String text;
    private final int tensors;

    Job(String text, int tensors) {
      this.text = text;
      this.tensors = tensors;
    }

    boolean isBackward() {
      return this == BACKWARD || this == BACKWARD_GAIN;
    }

    /** {@return the job in words} */
    @Override
    public String toString() {
      return text;
    }
  }

  /** What is asked of forward calls from a width on, as a share of the copy's bandwidth. */
  private static final double FROM_4096 = 0.85;

  private static final double FROM_1024 = 0.70;
  private static final double NARROWER = 0.60;
  private static final double BACKWARD_SHARE = 0.75;

  private static final int[] WIDTHS = {256, 1024, 4096, 8192, 16384, 65536};
  private static final int[] FEWER_WIDTHS = {1024, 4096, 16384};
  private static final int QUICK_WIDTH = 4096;

  /**
   * {@return all contests}
   *
   * @param quick whether only those of width 4096 are wanted
   */
  public static List<Contest> all(boolean quick) {
    List<Contest> all = new ArrayList<>();
    for (ElementType type : List.of(ElementType.FLOAT32, ElementType.BFLOAT16)) {
      for (NormSpec.Kind kind : List.of(NormSpec.Kind.RMS_NORM, NormSpec.Kind.LAYER_NORM)) {
        for (Job job : Job.values()) {
          for (int width : job == Job.FORWARD ? WIDTHS : FEWER_WIDTHS) {
            if (!quick || width == QUICK_WIDTH) {
              all.add(new Contest(kind, job, type, width));
            }
          }
        }
      }
    }
    return List.copyOf(all);
  }

  /**
   * {@return how many times as many bytes as x has the call must read and write at least; gain,
   * kept numbers and sums over rows are left out}
   */
  public int tensors() {
    return job.tensors;
  }

  /**
   * {@return the bytes that a call must read and write at least}
   *
   * @param rows of the call
   */
  public long bytes(int rows) {
    return (long) tensors() * rows * width * type.bytes();
  }

  /** {@return the least share of the copy's bandwidth that is asked for} */
  public double goal() {
    if (job.isBackward()) {
      return BACKWARD_SHARE;
    }
    return width >= 4096 ? FROM_4096 : width >= 1024 ? FROM_1024 : NARROWER;
  }

  String norm() {
    return kind == NormSpec.Kind.LAYER_NORM ? "LayerNorm" : "RMSNorm";
  }

  /** For example {@code RMSNorm forward, bfloat16, width 4096}. */
  @Override
  public String toString() {
    return "%s %s, %s, width %s".formatted(norm(), job, type, width);
  }
}
