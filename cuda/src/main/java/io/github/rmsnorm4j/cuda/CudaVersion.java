package io.github.rmsnorm4j.cuda;

import java.util.Comparator;

/**
 * A version of CUDA, such as 12.4, or the compute capability of a device, such as 9.0.
 *
 * @param major before the dot
 * @param minor behind the dot
 */
public record CudaVersion(int major, int minor) implements Comparable<CudaVersion> {
  private static final Comparator<CudaVersion> ORDER =
      Comparator.comparingInt(CudaVersion::major).thenComparingInt(CudaVersion::minor);

  @Override
  public int compareTo(CudaVersion other) {
    return ORDER.compare(this, other);
  }

  /** For example {@code 12.4}. */
  @Override
  public String toString() {
    return major + "." + minor;
  }
}
