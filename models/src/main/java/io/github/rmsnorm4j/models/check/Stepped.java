package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.RowStatistics;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;

/** A norm of a sample with statistics that are some steps from its own. */
final class Stepped {
  /** Steps from one mean to the next are this part of what sums may err. */
  static final long MEAN_STEPS = 1L << 32;

  private final Candidate candidate;
  private final Sample sample;
  private final Norm norm;
  private final Rows x;
  private final int width;
  private final int groups;
  private final int unit;
  private final boolean float64;
  private final double[] rstd;
  private final double[] mean;
  private final RowStatistics given;
  private final ElementType type;
  private final Rows made;

  /** Of a norm that divides: each group with elements in front. */
  private Norm[] wider;

  private Rows[] rows;
  private int front;

  /**
   * Begins.
   *
   * @param type what the output is rounded to
   */
  Stepped(Candidate candidate, Sample sample, Norm norm, ElementType type) {
    this.type = type;
    this.candidate = candidate;
    this.sample = sample;
    this.norm = norm;
    width = sample.width();
    groups = candidate.spec().groups().count(width);
    unit = width / groups;
    float64 = candidate.compute() == ElementType.FLOAT64;
    boolean divides = candidate.divides() && !candidate.roundsSteps();
    Rows seen = rows(false);
    x = divides && !candidate.roundsToInput() ? sample.as(seen, candidate.compute()) : seen;
    int units = sample.rows() * groups;
    rstd = new double[units];
    mean = candidate.spec().isCentred() ? new double[units] : null;
    given =
        mean == null
            ? RowStatistics.of(new double[units])
            : RowStatistics.of(new double[units], new double[units]);
    made = Sample.memory(candidate.made(sample, type), x.rows(), width);
    if (isPossible()) {
      norm.statistics(
          rows(true), mean == null ? RowStatistics.of(rstd) : RowStatistics.of(mean, rstd));
      if (divides) {
        widen();
      }
    }
  }

  /** The rows that are normalised, or that the statistic is of. */
  private Rows rows(boolean measured) {
    if (sample.residual == null) {
      return sample.as(sample.x, candidate.input());
    }
    ResidualRounding rounding = candidate.spec().residualRounding();
    boolean rounded =
        rounding == ResidualRounding.FIRST || rounding == ResidualRounding.BETWEEN && !measured;
    return sample.sum(candidate.input(), rounded ? candidate.sumType(sample) : candidate.compute());
  }

  /** Whether the library takes statistics for these rows: those of a sum may have another type. */
  boolean isPossible() {
    return !candidate.roundsToInput() || x.type() == candidate.input();
  }

  /** The output, with steps of rstd and of the mean for each unit, or without any. */
  Rows made(long[][] steps) {
    long step = candidate.roundsSteps() ? stepInRowType() : 1;
    for (int u = 0; u < rstd.length; u++) {
      long up = steps == null ? 0 : steps[0][u] * step;
      given.rstd()[u] =
          wider == null
              ? Ordinals.step(rstd[u], up, float64)
              : Ordinals.step(1 / rstd[u], -up, float64);
      if (mean != null) {
        long shift = steps == null ? 0 : steps[1][u];
        double off = meanError(mean[u], rstd[u]) * shift / MEAN_STEPS;
        // The library's own mean has more digits than that of a system.
        boolean own = shift == 0 || float64;
        given.mean()[u] = own ? mean[u] + off : (float) (mean[u] + off);
      }
    }
    if (wider != null) {
      divide();
    } else {
      norm.apply(x, given, made);
    }
    return candidate.finished(made, sample, type);
  }

  /** Half of a last place of the row's type. */
  private long stepInRowType() {
    double digits = candidate.input().unitRoundoff() / ElementType.FLOAT32.unitRoundoff();
    return Math.max(1, (long) digits / 2);
  }

  /** How far a mean that was summed in the compute type may be from the exact one. */
  private double meanError(double exact, double r) {
    double deviation = r > 0 ? 1 / r : 0;
    double ofMean = (2 + 1.5 * Math.sqrt(unit)) * Math.abs(exact);
    return candidate.compute().unitRoundoff() * (ofMean + 4 * deviation);
  }

  /**
   * A norm that divides takes 1 / rstd for the root of a given statistic, which leaves some roots
   * out. So each row of a group gets elements in front of it that have this root, and a statistic
   * of these elements alone.
   */
  private void widen() {
    front = Candidate.isNarrow(x.type()) ? 4 : 1;
    int wide = unit + front;
    NormSpec spec =
        NormSpec.RMSNORM
            .withCastOrder(candidate.order())
            .withPart(RowPart.of(front, wide))
            .withEpsilon(0);
    Rows gain = sample.gain == null ? null : candidate.gainWithOffset(sample.gain);
    wider = new Norm[groups];
    rows = new Rows[groups];
    for (int group = 0; group < groups; group++) {
      var builder = spec.builder(wide).backend(Backend.scalar()).threads(1);
      if (gain != null) {
        Rows own = Sample.memory(gain.type(), 1, wide);
        copy(gain, group * unit, own, front);
        builder.gain(own);
      }
      wider[group] = builder.build();
      rows[group] = Sample.memory(x.type(), x.rows(), wide);
      for (long row = 0; row < x.rows(); row++) {
        copy(x, row * width + group * unit, rows[group], row * wide + front);
      }
    }
  }

  private void divide() {
    int wide = unit + front;
    Rows out = Sample.memory(made.type(), x.rows(), wide);
    for (int group = 0; group < groups; group++) {
      for (int row = 0; row < x.rows(); row++) {
        int u = row * groups + group;
        if (mean != null) {
          center(rows[group], (long) row * wide + front, u);
        }
        setRoot(rows[group], (long) row * wide, given.rstd()[u]);
      }
      wider[group].apply(rows[group], out);
      for (long row = 0; row < x.rows(); row++) {
        copy(out, row * wide + front, made, row * width + group * unit);
      }
    }
  }

  private void center(Rows of, long at, int u) {
    for (int i = 0; i < unit; i++) {
      double value = x.type().get(x.segment(), (long) u * unit + i);
      of.type().set(of.segment(), at + i, value - given.mean()[u]);
    }
  }

  /** Of four narrow numbers, each has the digits that those before it left. */
  private void setRoot(Rows of, long at, double root) {
    double rest = root * root * front;
    double down = 1 - 1.5 * of.type().unitRoundoff();
    for (int i = 0; i < front; i++) {
      double next = Math.sqrt(Math.max(0, rest)) * (i < 3 ? down : 1);
      next = front == 1 ? root : of.type().round(next);
      of.type().set(of.segment(), at + i, next);
      rest -= next * next;
    }
  }

  private void copy(Rows from, long first, Rows to, long into) {
    int bytes = from.type().bytes();
    MemorySegment.copy(
        from.segment(), first * bytes, to.segment(), into * bytes, (long) unit * bytes);
  }
}
