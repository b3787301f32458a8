package io.github.rmsnorm4j.cuda.check;

import java.util.List;
import java.util.Optional;

/**
 * All that a check of a device found. A part that was left out is empty, or null.
 *
 * @param date when, as 2026-01-31
 * @param version of this project, with its commit where that is known
 * @param java the JVM
 * @param device what was checked
 * @param bits calls whose bits were compared; null if none were
 * @param errors real sizes compared with a plain float64 definition
 * @param times of calls, every round
 * @param untimed why there are no times; null if there are, or none were asked for
 * @param torch version and GPU of PyTorch, or why it was not compared with; null if nothing was
 *     timed
 */
public record DeviceResults(
    String date,
    String version,
    String java,
    Device device,
    Bits bits,
    List<Error> errors,
    List<Timed> times,
    String untimed,
    String torch) {
  /** This library. */
  public static final String OWN = "rmsnorm4j";

  /** A copy on the device of rows like x. */
  public static final String COPY = "copy";

  /** PyTorch's own function for the call. */
  public static final String TORCH = "torch";

  /** A copy reads its rows and writes as many. */
  private static final double COPIED_TENSORS = 2;

  /** {@return whether all that was looked at is right; missed goals of time are not wrong} */
  public boolean passed() {
    return (bits == null || bits.differences().isEmpty())
        && errors.stream().allMatch(Error::passed)
        && untimed == null
        && times.stream().allMatch(timed -> timed.of(OWN).isPresent());
  }

  /**
   * A device and its driver.
   *
   * @param name the driver's name of it
   * @param computeCapability such as 9.0
   * @param memoryBytes size of its memory
   * @param cuda the newest version of CUDA that the driver supports
   * @param facts what the driver's own tools say of version and clocks, a line each
   */
  public record Device(
      String name, String computeCapability, long memoryBytes, String cuda, List<String> facts) {}

  /**
   * Calls whose bytes were compared with those of the CPU and with the kept digests.
   *
   * @param calls how many
   * @param differences those that differ
   */
  public record Bits(int calls, List<Difference> differences) {}

  /**
   * A call that differs.
   *
   * @param call its name
   * @param what the first difference
   */
  public record Difference(String call, String what) {}

  /**
   * A call of a real size.
   *
   * @param call what was computed
   * @param ulps the largest error, in units in the last place of the exact result; of a gradient in
   *     those of the row's largest element
   * @param ofBound the largest error as a share of the library's bound; null where there is none
   * @param difference the first difference from the CPU, guards included; null if there is none
   */
  public record Error(String call, double ulps, Double ofBound, String difference) {
    /** {@return whether the bits are those of the CPU and the bound holds} */
    public boolean passed() {
      return difference == null && (ofBound == null || ofBound <= 1);
    }
  }

  /**
   * A contest.
   *
   * @param contest what was done
   * @param rows of a call
   * @param systems who did it: this library, a copy and, where it is there, torch
   */
  public record Timed(Contest contest, int rows, List<Times> systems) {
    /**
     * {@return the times of a system; empty if it was not there, or refused}
     *
     * @param name the system
     */
    public Optional<Times> of(String name) {
      return systems.stream()
          .filter(times -> times.system().equals(name) && times.refused() == null)
          .findFirst();
    }

    /** {@return the share of the copy's bandwidth; NaN if either has no times} */
    public double ofCopy() {
      return contest.tensors() / COPIED_TENSORS * ratio(COPY, OWN);
    }

    /** {@return this library's time divided by that of torch; NaN if either has no times} */
    public double ofTorch() {
      return ratio(OWN, TORCH);
    }

    private double ratio(String system, String against) {
      return median(system) / median(against);
    }

    private double median(String system) {
      return of(system).map(Times::median).orElse(Double.NaN);
    }
  }

  /**
   * A system in a contest.
   *
   * @param system its name
   * @param refused why it has no times; null if it has
   * @param micros microseconds of a call on the device, a number for each round
   */
  public record Times(String system, String refused, List<Double> micros) {
    /** {@return the median of the rounds, in microseconds} The archive has no library for that. */
    public double median() {
      double[] sorted = micros.stream().mapToDouble(Double::doubleValue).sorted().toArray();
      int middle = sorted.length / 2;
      return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
  }
}
