package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.L2Norm;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;

/**
 * The memory of a device that takes the mean, rstd or length of each row of {@link
 * CudaNorm#apply(CudaRows, CudaRows, CudaStatistics)}, for a backward pass of your own. {@link
 * CudaSaved} keeps them for {@link CudaNorm#backward(CudaRows, CudaSaved, CudaRows, CudaGradients)
 * backward}.
 *
 * <p>Each is rows x 1 float64 numbers; for a norm of groups rows x groups, a number for each group.
 * They are one after the other, and are the numbers that the calls of the CPU give: {@link
 * RmsNorm#apply(Rows, Rows, double[])}, {@link LayerNorm#apply(Rows, Rows, double[], double[])} and
 * {@link L2Norm#apply(Rows, Rows, double[])}.
 *
 * <pre>{@code
 * CudaRows rstd = CudaRows.of(device.allocate(8 * rows, arena), ElementType.FLOAT64, rows, 1);
 * norm.apply(x, y, CudaStatistics.rstd(rstd));
 * }</pre>
 */
public final class CudaStatistics {
  private final CudaRows mean;
  private final CudaRows length;
  private final CudaRows rstd;

  private CudaStatistics(CudaRows mean, CudaRows length, CudaRows rstd) {
    this.mean = mean;
    this.length = length;
    this.rstd = rstd;
  }

  /**
   * {@return memory for the rstd of each row, of any norm}
   *
   * @param rstd takes the reciprocal of the root: in float32 arithmetic a float32 value, or a
   *     float64 value if the row is out of the range of float32
   * @throws NullPointerException if it is null
   */
  public static CudaStatistics rstd(CudaRows rstd) {
    return new CudaStatistics(null, null, CudaNorm.require(rstd, "rstd"));
  }

  /**
   * {@return memory for the mean and rstd of each row, of a LayerNorm}
   *
   * @param mean takes the mean
   * @param rstd takes the rstd, as for {@link #rstd(CudaRows)}
   * @throws NullPointerException if one is null
   */
  public static CudaStatistics meanAndRstd(CudaRows mean, CudaRows rstd) {
    return new CudaStatistics(CudaNorm.require(mean, "mean"), null, CudaNorm.require(rstd, "rstd"));
  }

  /**
   * {@return memory for the length of each row, of an L2 norm}
   *
   * @param length takes {@code sqrt(x_1^2 + ... + x_n^2)}, without epsilon
   * @throws NullPointerException if it is null
   */
  public static CudaStatistics length(CudaRows length) {
    return new CudaStatistics(null, CudaNorm.require(length, "length"), null);
  }

  /** Checks them against the rows of a call. */
  void check(CudaNorm norm, long rows, CallRows call) {
    Norm of = norm.norm();
    requireKind(mean, "mean", of.spec().isCentred(), "a LayerNorm", of);
    requireKind(length, "length", of.spec().isOfLength(), "an L2 norm", of);
    check(mean, "mean", norm, rows, call);
    check(length, "length", norm, rows, call);
    check(rstd, "rstd", norm, rows, call);
    if (mean != null) {
      CallRows.requireApart(norm.parts().checks(), "mean", mean, "rstd", rstd);
    }
  }

  private static void requireKind(CudaRows numbers, String name, boolean is, String kind, Norm of) {
    if (numbers != null && !is) {
      throw new IllegalArgumentException(name + " is of " + kind + ", the norm is " + of);
    }
  }

  private static void check(
      CudaRows numbers, String name, CudaNorm norm, long rows, CallRows call) {
    if (numbers == null) {
      return;
    }
    CallRows.requireOn(norm.device(), numbers.memory(), name);
    numbers.memory().requireAccess(() -> name);
    int groups = norm.parts().groups();
    boolean dense = numbers.rows() == 1 || numbers.rowStride() == groups;
    if (numbers.type() != ElementType.FLOAT64
        || numbers.rows() != rows
        || numbers.width() != groups
        || !dense) {
      throw new IllegalArgumentException(
          "%s is %s, it must be %s x %s %s without gaps: a number for each %s"
              .formatted(
                  name,
                  numbers,
                  rows,
                  groups,
                  ElementType.FLOAT64,
                  groups > 1 ? "group of each row" : "row"));
    }
    call.requireApart(name, numbers);
  }

  /** Where the mean or the length goes; 0 if neither is wanted. */
  long meanAddress() {
    return address(mean == null ? length : mean);
  }

  /** Where rstd goes; 0 if it is not wanted. */
  long rstdAddress() {
    return address(rstd);
  }

  private static long address(CudaRows numbers) {
    return numbers == null ? 0 : numbers.memory().address();
  }
}
