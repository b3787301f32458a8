package io.github.rmsnorm4j;

import java.lang.foreign.Arena;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;

/** A drawn call, made on one backend and compared with the contract bit by bit. */
final class CaseCheck {
  /** In arrays for statistics, behind the numbers of all rows. */
  private static final double BEHIND = 42;

  private final Case drawn;
  private final Arena arena;
  private final Norm norm;
  private final String what;
  private final int rows;
  private final Block in;
  private final Block sum;
  private final Block gates;
  private final Block out;

  private CaseCheck(Case drawn, Norm norm, String what, Arena arena) {
    this.drawn = drawn;
    this.arena = arena;
    this.norm = norm;
    this.what = what;
    rows = drawn.x.rows().length;
    in = drawn.x.in(arena);
    sum = block(drawn.residual);
    gates = block(drawn.z);
    Block over = drawn.over == null ? null : drawn.over == drawn.x ? in : gates;
    out = over == null ? drawn.y.in(arena) : over.as(drawn.y.type());
  }

  /** Makes the calls on a backend. */
  static void of(Case drawn, Backend backend, int threads) {
    String what = drawn + " on " + backend + ", " + threads + " threads";
    try (Arena arena = Arena.ofShared()) {
      Norm own = norm(drawn, backend, threads, !drawn.ofCall, arena);
      Norm norm =
          drawn.ofCall
              ? own.withParameters(Operand.rows(drawn.gain, arena), Operand.rows(drawn.bias, arena))
              : own;
      CaseCheck check = new CaseCheck(drawn, norm, what, arena);
      Saved saved = check.forward();
      check.compareForward();
      if (drawn.dy != null) {
        check.backward(saved);
        check.compareForward();
      }
    } catch (RuntimeException e) {
      throw new AssertionError(what, e);
    }
  }

  /** The norm, with its own gain and bias or without any. */
  static Norm norm(Case drawn, Backend backend, int threads, boolean own, Arena arena) {
    return drawn.norm.norm(
        builder -> {
          builder.threads(threads).backend(backend);
          if (drawn.safe) {
            builder.safe();
          }
          if (own && drawn.gain != null) {
            builder.gain(drawn.gain.in(arena).rows);
          }
          if (own && drawn.bias != null) {
            builder.bias(drawn.bias.in(arena).rows);
          }
        });
  }

  private Block block(Operand operand) {
    return operand == null ? null : operand.in(arena);
  }

  /** By the door that takes what this call has; gives what was kept. */
  private Saved forward() {
    Saved saved = drawn.keep == null ? null : new Saved(drawn.keep, rows);
    if (gates != null && saved != null) {
      norm.applyGated(in.rows, gates.rows, out.rows, saved);
    } else if (gates != null) {
      norm.applyGated(in.rows, gates.rows, out.rows);
    } else if (sum != null && saved != null) {
      norm.addAndApply(in.rows, sum.rows, out.rows, saved);
    } else if (sum != null) {
      norm.addAndApply(in.rows, sum.rows, out.rows);
    } else if (saved != null) {
      norm.apply(in.rows, out.rows, saved);
    } else if (drawn.statistics) {
      withStatistics();
    } else {
      norm.apply(in.rows, out.rows);
    }
    if (saved != null) {
      compare("rstd", saved.rstd(), Contract.Result::rstd);
      compare("mean", saved.mean(), Contract.Result::mean);
    }
    return saved;
  }

  private void withStatistics() {
    int n = drawn.answer.forward.length;
    double[] mean = new double[n + 1];
    double[] rstd = new double[n + 1];
    mean[n] = BEHIND;
    rstd[n] = BEHIND;
    switch (norm) {
      case LayerNorm layer -> layer.apply(in.rows, out.rows, mean, rstd);
      case RmsNorm rms -> rms.apply(in.rows, out.rows, rstd);
      case L2Norm length -> length.apply(in.rows, out.rows, mean);
    }
    compare("rstd", norm instanceof L2Norm ? null : rstd, Contract.Result::rstd);
    compare("mean or length", norm instanceof RmsNorm ? null : mean, Contract.Result::mean);
    same("what is behind the statistics", mean[n] + rstd[n], 2 * BEHIND);
  }

  private void backward(Saved saved) {
    Block slopes = drawn.dy.in(arena);
    Block added = block(drawn.dresidual);
    Block dx =
        drawn.dx == drawn.dy ? slopes : drawn.dx == drawn.dresidual ? added : block(drawn.dx);
    Block dz = drawn.dz == drawn.dy ? slopes : block(drawn.dz);
    Object dgain = Learned.array(drawn.dgain);
    Object dbias = Learned.array(drawn.dbias);
    ParameterGradients gradients = Learned.gradients(drawn.dgain, dgain, drawn.dbias, dbias);
    if (dz != null) {
      norm.backwardGated(slopes.rows, saved, dx.rows, dz.rows, gradients);
    } else if (added != null) {
      norm.backward(slopes.rows, saved, added.rows, dx.rows, gradients);
    } else {
      norm.backward(slopes.rows, saved, dx.rows, gradients);
    }
    BackwardContract.Result wanted = drawn.answer.gradients;
    compare("dx", dx, r -> wanted.dx()[r]);
    compare("dz", dz, r -> wanted.dz()[r]);
    compare("dgain", drawn.dgain, dgain, wanted.dgain());
    compare("dbias", drawn.dbias, dbias, wanted.dbias());
    compare("dy", slopes == dx || slopes == dz ? null : slopes, r -> drawn.dy.rows()[r]);
    compare("dresidual", added == dx ? null : added, r -> drawn.dresidual.rows()[r]);
  }

  private void compareForward() {
    compare("y", out, drawn.answer::y);
    compare("residual", sum, drawn.answer::sum);
    compare("x", drawn.over == drawn.x ? null : in, r -> drawn.x.rows()[r]);
    compare("z", drawn.over == drawn.z ? null : gates, r -> drawn.z.rows()[r]);
  }

  /** Numbers of the groups of all rows, unless they were not kept. */
  private void compare(String name, double[] kept, ToDoubleFunction<Contract.Result> wanted) {
    for (int r = 0; kept != null && r < drawn.answer.forward.length; r++) {
      same(name + " of row or group " + r, kept[r], wanted.applyAsDouble(drawn.answer.forward[r]));
    }
  }

  /** Rows, unless they are null, and that nothing was written between them. */
  private void compare(String name, Block rows, IntFunction<double[]> wanted) {
    for (int r = 0; rows != null && r < this.rows; r++) {
      double[] row = wanted.apply(r);
      int i = rows.mismatch(r, row);
      if (i >= 0) {
        same("%s of row %d, element %d".formatted(name, r, i), rows.values(r)[i], row[i]);
        throw new AssertionError(what + ": pattern of " + name + " of row " + r + ", element " + i);
      }
    }
    if (rows != null && !rows.isGuardIntact()) {
      throw new AssertionError(what + ": written between the rows of " + name);
    }
  }

  private void compare(String name, Learned learned, Object array, double[] sums) {
    for (int i = 0; learned != null && i < sums.length; i++) {
      double is = learned.wide() ? ((double[]) array)[i] : ((float[]) array)[i];
      same(name + "[" + i + "]", is, learned.after(i, sums[i], rows));
    }
  }

  private void same(String name, double is, double wanted) {
    if (Double.doubleToLongBits(is) != Double.doubleToLongBits(wanted)) {
      throw new AssertionError(
          "%s: %s is %s, the contract says %s".formatted(what, name, is, wanted));
    }
  }
}
