package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/**
 * The sums, the statistic and the output of a drawn call, computed one by one. The sums are those
 * of the contract's order. The output is checked where it has to be that of one call.
 */
record StatisticCheck(Case drawn) {
  /** Any norm of rows of a width and type. */
  static StatisticCheck of(long seed, int width, int rows, ElementType type) {
    Draw draw = new Draw(~seed);
    Shape shape = Shape.of(Direction.FORWARD, draw, type, rows, width);
    Parts parts = Parts.drawn(draw, shape, Recipe.RESIDUAL).ofOneSample();
    return new StatisticCheck(Case.of(seed, shape, parts));
  }

  /** Gives what was checked on a backend. */
  Set<String> on(Backend backend, int threads) {
    Set<String> checked = new TreeSet<>();
    String what = drawn + " on " + backend;
    try (Arena arena = Arena.ofShared()) {
      Norm norm = CaseCheck.norm(drawn, backend, threads, true, arena);
      Block in = drawn.x.in(arena);
      if (norm.spec().part().isWhole()) {
        double[] wanted = sums();
        double[] sums = new double[wanted.length];
        norm.sums(in.rows, sums);
        assertThat(sums).as(what + ", sums").isEqualTo(wanted);
        checked.add("sums");
      }
      if (drawn.residual == null) {
        output(norm, in, what, checked, arena);
      }
    } catch (RuntimeException e) {
      throw new AssertionError(what, e);
    }
    return checked;
  }

  private void output(Norm norm, Block in, String what, Set<String> checked, Arena arena) {
    Contract.Result[] forward = drawn.answer.forward;
    double[] rstd = new double[forward.length];
    double[] mean = norm.spec().isCentred() ? new double[forward.length] : null;
    RowStatistics all = mean == null ? RowStatistics.of(rstd) : RowStatistics.of(mean, rstd);
    norm.statistics(in.rows, all);
    double[] wanted = Arrays.stream(forward).mapToDouble(Contract.Result::rstd).toArray();
    assertThat(rstd).as(what + ", rstd").isEqualTo(wanted);
    if (mean != null) {
      double[] means = Arrays.stream(forward).mapToDouble(Contract.Result::mean).toArray();
      assertThat(mean).as(what + ", mean").isEqualTo(means);
    }
    checked.add("statistic");
    Block out = drawn.over == drawn.x ? in.as(drawn.y.type()) : drawn.y.in(arena);
    norm.apply(in.rows, all, out.rows);
    for (int r = 0; r < drawn.x.rows().length; r++) {
      if (isOutputOfOneCall(r)) {
        assertThat(out.mismatch(r, drawn.answer.y(r))).as(what + ", y of row " + r).isEqualTo(-1);
        checked.add(drawn.answer.outOfRange()[r] ? "output out of range" : "output");
      }
    }
    assertThat(in.isGuardIntact() && out.isGuardIntact()).as(what + ": gaps").isTrue();
  }

  /**
   * No root divides, except one that is rounded to 16 bits, and no element is scaled because rstd
   * or the mean cannot be used as it is.
   */
  private boolean isOutputOfOneCall(int row) {
    boolean isNarrow = drawn.x.type().bytes() == 2;
    boolean divides =
        drawn.norm.order() == CastOrder.ONNX
            || drawn.norm.order() == CastOrder.DIVIDED
            || drawn.norm.order() == CastOrder.NONE_DIVIDED && !isNarrow;
    boolean scaled = false;
    for (int i = row * drawn.norm.groups(); i < (row + 1) * drawn.norm.groups(); i++) {
      double rstd = drawn.answer.forward[i].rstd();
      boolean normal = rstd >= Double.MIN_NORMAL && rstd <= Double.MAX_VALUE;
      scaled |=
          drawn.answer.forward[i].outOfRange() && (drawn.norm.centred() && rstd < 1 || !normal);
    }
    return !divides && !(scaled && drawn.x.type() == ElementType.FLOAT64);
  }

  /** Of each group, or first the sums and then the sums of squares. */
  private double[] sums() {
    boolean rounds =
        drawn.norm.order() == CastOrder.NONE || drawn.norm.order() == CastOrder.NONE_DIVIDED;
    boolean narrow = rounds && drawn.x.type().bytes() == 2;
    int n = drawn.x.width() / drawn.norm.groups();
    double[] sums = new double[drawn.answer.forward.length * (drawn.norm.centred() ? 2 : 1)];
    for (int i = 0; i < drawn.answer.forward.length; i++) {
      int from = i % drawn.norm.groups() * n;
      double[] group = Arrays.copyOfRange(drawn.x.rows()[i / drawn.norm.groups()], from, from + n);
      sums[i] = Moments.rowSum(group);
      double[] squares = Arrays.stream(group).map(v -> v * v).toArray();
      if (narrow) {
        Arrays.setAll(squares, k -> Rounding.to(drawn.x.type(), (float) squares[k]));
      }
      sums[sums.length - drawn.answer.forward.length + i] = Moments.rowSum(squares);
    }
    return sums;
  }
}
