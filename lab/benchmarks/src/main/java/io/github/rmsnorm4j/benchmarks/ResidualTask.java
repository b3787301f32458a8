package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.Arena;
import java.util.Arrays;

/** Float32 rows added to a residual and normalized in one call. */
final class ResidualTask extends Task {
  private static final double ALLOWED = 1e-5;

  private final Rows x;
  private final Rows residual;
  private final Rows y;

  /** In sixty-fourths: sums are exact for as long as this runs. */
  ResidualTask(Subject subject, Backend backend, Arena arena) {
    super(subject, backend, arena);
    x = rows(this::values);
    residual = rows(r -> values(~r - 2));
    y = zeros();
  }

  @Override
  void run() {
    norm.addAndApply(x, residual, y);
  }

  @Override
  void check() {
    run();
    for (int r = 0; r < subject.rows(); r++) {
      double[] sum = values(r);
      double[] added = values(~r - 2);
      Arrays.setAll(sum, i -> sum[i] + added[i]);
      expect("residual of row " + r, row(residual, r), sum, _ -> 0);
      double[] exact = subject.kernel().reference(sum, gain, bias);
      expect("y of row " + r, row(y, r), exact, i -> ALLOWED * Math.abs(exact[i]) + ALLOWED);
    }
  }
}
