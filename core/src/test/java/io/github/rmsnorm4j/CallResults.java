package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;

/** The memory of a forward and a backward call, and what they leave in it. */
final class CallResults {
  final Block in;

  /** Null without a residual. */
  final Block sum;

  final Block out;
  final Block slope;
  final Block dx;
  final double[] rstd;
  final double[] mean;
  final double[] dgain;
  final double[] dbias;

  /**
   * Memory that nothing was computed in yet.
   *
   * @param residual null without one
   * @param to the type of the output
   * @param statistics how many there are of each kind
   * @param parameters the elements of the gradient of a gain
   */
  CallResults(
      Operand x,
      Operand residual,
      Operand dy,
      ElementType to,
      int statistics,
      int parameters,
      Arena arena) {
    in = x.in(arena);
    sum = residual == null ? null : residual.in(arena);
    out = x.empty(to).in(arena);
    slope = dy.in(arena);
    dx = dy.empty(dy.type()).in(arena);
    rstd = new double[statistics];
    mean = new double[statistics];
    dgain = new double[parameters];
    dbias = new double[parameters];
  }

  /** Takes the statistics that a call of some rows has kept. */
  void take(Saved saved, int from, int n) {
    if (saved.rstd() != null) {
      System.arraycopy(saved.rstd(), 0, rstd, from, n);
    }
    if (saved.mean() != null) {
      System.arraycopy(saved.mean(), 0, mean, from, n);
    }
  }

  void requireSame(CallResults other, String what) {
    requireSame(out, other.out, what + ", y");
    requireSame(in, other.in, what + ", x");
    requireSame(dx, other.dx, what + ", dx");
    if (sum != null) {
      requireSame(sum, other.sum, what + ", sum");
    }
    assertThat(rstd).as(what + ", rstd").isEqualTo(other.rstd);
    assertThat(mean).as(what + ", mean").isEqualTo(other.mean);
    assertThat(dgain).as(what + ", dgain").isEqualTo(other.dgain);
    assertThat(dbias).as(what + ", dbias").isEqualTo(other.dbias);
  }

  /** The same bits in every row, and nothing written between rows. */
  static void requireSame(Block got, Block wanted, String what) {
    for (int r = 0; r < got.rows.rows(); r++) {
      assertThat(got.mismatch(r, wanted.values(r))).as("%s of row %d", what, r).isEqualTo(-1);
    }
    assertThat(got.isGuardIntact()).as(what).isTrue();
  }
}
