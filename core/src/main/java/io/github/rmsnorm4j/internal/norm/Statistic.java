package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.lowering.Kernels;

/**
 * The kernels of the row sums of a norm.
 *
 * @param rows the sums of whole rows; null if rows are longer than a super-block
 * @param shift x0 of a long row of LayerNorm; null for RMSNorm and for shorter rows
 * @param pieces the sums of pieces of long rows; null for shorter rows
 */
record Statistic(Kernel rows, Kernel shift, Kernel pieces) {
  static Statistic of(Forward forward, Kernels kernels, NormChoices norm) {
    if (norm.width() <= RowSum.SUPER_BLOCK) {
      return new Statistic(kernels.of(forward.statistic(), norm.part()), null, null);
    }
    return new Statistic(
        null,
        norm.isCentred() ? kernels.of(forward.shift(), norm.width()) : null,
        kernels.of(forward.pieceStatistic(), norm.width()));
  }
}
