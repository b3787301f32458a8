package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.lowering.Kernels;

/**
 * The kernels of a norm's row sums.
 *
 * @param rows of whole rows; null where rows are longer than a super-block
 * @param shift LayerNorm's x0 of a long row; null where none is taken off, and for shorter ones
 * @param pieces of the pieces of long rows; null for shorter ones
 */
record Statistic(Kernel rows, Kernel shift, Kernel pieces) {
  static Statistic of(Forward forward, Kernels kernels, NormChoices norm) {
    if (norm.width() <= RowSum.SUPER_BLOCK) {
      return new Statistic(kernels.of(forward.statistic(), norm.part()), null, null);
    }
    return new Statistic(
        null,
        norm.centred() ? kernels.of(forward.shift(), norm.width()) : null,
        kernels.of(forward.pieceStatistic(), norm.width()));
  }
}
