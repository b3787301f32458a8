package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;

/** A drawn backward call, made on one backend and compared with the contract bit by bit. */
final class BackwardCheck {
  private final BackwardCase drawn;
  private final Arena arena;
  private final Norm norm;
  private final String what;

  private BackwardCheck(BackwardCase drawn, Backend backend, int threads, Arena arena) {
    this.drawn = drawn;
    this.arena = arena;
    norm = drawn.norm.norm(builder -> configure(builder.backend(backend).threads(threads)));
    what = drawn + " on " + norm.backend() + ", " + threads + " threads";
  }

  /** On a backend. */
  static void of(BackwardCase drawn, Backend backend, int threads) {
    try (Arena arena = Arena.ofShared()) {
      new BackwardCheck(drawn, backend, threads, arena).run();
    } catch (RuntimeException e) {
      throw new AssertionError(drawn + " on " + backend + ", " + threads + " threads", e);
    }
  }

  private void configure(NormBuilder<?> builder) {
    if (drawn.safe) {
      builder.safe();
    }
    if (!drawn.ofCall && drawn.gain != null) {
      builder.gain(drawn.gain.in(arena).rows);
    }
    if (!drawn.ofCall && drawn.bias != null) {
      builder.bias(drawn.bias.in(arena).rows);
    }
  }

  private void run() {
    Block in = drawn.x.in(arena);
    Block sum = drawn.residual == null ? null : drawn.residual.in(arena);
    Block out = drawn.inPlace ? in : drawn.y.in(arena);
    Saved saved = new Saved(drawn.keep, drawn.rstd.length);
    forward(in.rows, sum == null ? null : sum.rows, out.rows, saved);
    compare("rstd", saved.rstd(), drawn.rstd);
    compare("mean", saved.mean(), drawn.mean);
    Block slopes = drawn.dy.in(arena);
    Block added = drawn.dresidual == null ? null : drawn.dresidual.in(arena);
    Operand dx = drawn.dx;
    Block to = dx == drawn.dy ? slopes : dx == drawn.dresidual ? added : dx.in(arena);
    Object dgain = Learned.array(drawn.dgain);
    Object dbias = Learned.array(drawn.dbias);
    ParameterGradients gradients = Learned.gradients(drawn.dgain, dgain, drawn.dbias, dbias);
    if (added == null) {
      norm.backward(slopes.rows, saved, to.rows, gradients);
    } else {
      norm.backward(slopes.rows, saved, added.rows, to.rows, gradients);
    }
    compare(to);
    compare("dgain", drawn.dgain, dgain, drawn.expected.dgain());
    compare("dbias", drawn.dbias, dbias, drawn.expected.dbias());
    if (!drawn.inPlace) {
      untouched(in, drawn.x, to);
    }
    untouched(slopes, drawn.dy, to);
    untouched(added, drawn.dresidual, to);
    assertThat(to.isGuardIntact() && out.isGuardIntact()).as(what).isTrue();
  }

  /** The forward call: x and what it is added to, or null, to y. */
  private void forward(Rows x, Rows residual, Rows y, Saved saved) {
    Rows g = drawn.ofCall ? Operand.rows(drawn.gain, arena) : null;
    Rows b = drawn.ofCall ? Operand.rows(drawn.bias, arena) : null;
    if (residual == null) {
      norm.withParameters(g, b).apply(x, y, saved);
    } else {
      norm.withParameters(g, b).addAndApply(x, residual, y, saved);
    }
  }

  /** What was kept of each row, unless it was not. */
  private void compare(String name, double[] kept, double[] wanted) {
    for (int r = 0; kept != null && r < wanted.length; r++) {
      if (Double.doubleToLongBits(kept[r]) != Double.doubleToLongBits(wanted[r])) {
        throw wrong(name + " of row " + r, kept[r], wanted[r]);
      }
    }
  }

  private void compare(Block dx) {
    double[][] wanted = drawn.expected.dx();
    for (int r = 0; r < wanted.length; r++) {
      int i = dx.mismatch(r, wanted[r]);
      if (i >= 0) {
        throw wrong("dx of row " + r + ", element " + i, dx.values(r)[i], wanted[r][i]);
      }
    }
  }

  private void compare(String name, Learned learned, Object array, double[] sums) {
    for (int i = 0; learned != null && i < sums.length; i++) {
      double is = learned.wide() ? ((double[]) array)[i] : ((float[]) array)[i];
      double wanted = learned.after(i, sums[i], drawn.rstd.length);
      if (Double.doubleToLongBits(is) != Double.doubleToLongBits(wanted)) {
        throw wrong(name + "[" + i + "]", is, wanted);
      }
    }
  }

  private AssertionError wrong(String name, double is, double wanted) {
    return new AssertionError(
        "%s: %s is %s, the contract says %s".formatted(what, name, is, wanted));
  }

  /** What is read is as it was, but where dx went; and what is between the rows in any case. */
  private void untouched(Block block, Operand was, Block out) {
    if (block == null) {
      return;
    }
    assertThat(block.isGuardIntact()).as(what).isTrue();
    for (int r = 0; r < was.rows().length && block != out; r++) {
      assertThat(block.mismatch(r, was.rows()[r])).as(what).isEqualTo(-1);
    }
  }
}
