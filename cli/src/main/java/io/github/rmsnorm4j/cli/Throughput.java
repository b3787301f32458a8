package io.github.rmsnorm4j.cli;

import java.util.Locale;

/** How long a job took, and how fast that was. */
final class Throughput {
  /** Of fewer bytes the time is that of opening files, and a rate would say nothing of the job. */
  private static final long LEAST_BYTES = 1 << 20;

  private Throughput() {}

  /** For example {@code 0.52 s, 4.12 GB/s read and written}; for little data without the rate. */
  static String of(long bytes, long nanos) {
    String seconds = String.format(Locale.ROOT, "%.2f s", nanos * 1e-9);
    return bytes < LEAST_BYTES
        ? seconds
        : String.format(
            Locale.ROOT, "%s, %.3g GB/s read and written", seconds, (double) bytes / nanos);
  }
}
