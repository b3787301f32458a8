package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.TreeSet;
import java.util.function.Consumer;

/** A forward and a backward call of rows that have several owners, drawn from a seed. */
final class ShardCase {
  private static final int GAP = 9;
  private static final int BLOCK = 1024;
  private static final int MOST_OWNERS = 4;

  /** Where the columns of each owner begin, and the width. */
  final int[] cuts;

  private final Draw draw;
  private final int rows;
  private final int width;
  private final NormSpec spec;
  private final Operand x;
  private final Operand residual;
  private final Operand dy;
  private final Operand dresidual;
  private final ElementType to;
  private final Operand gain;
  private final Operand bias;

  /** Null if nothing is kept, and there is no backward call. */
  private final Keep keep;

  private final boolean inPlace;
  private final String name;

  ShardCase(int seed, ElementType type, int rows, int width) {
    draw = new Draw(seed);
    this.rows = rows;
    this.width = width;
    cuts = cuts();
    double epsilon = draw.epsilon(new double[] {1e-6, 1e-300}, width, Mix.ANY);
    Variant any = Variant.any(draw.random, draw.evenly(), width, epsilon).whole();
    boolean biased = draw.evenly();
    spec = (biased ? any.withoutCasts() : any).spec();
    Mix mix = draw.of(Mix.ANY, Mix.LONE, Mix.ORDINARY);
    x = filled(type, mix);
    residual = draw.onceIn(3) ? filled(other(type), mix) : null;
    dy = filled(other(type), Mix.ORDINARY);
    dresidual = draw.evenly() ? filled(other(type), Mix.ORDINARY) : null;
    to = other(type);
    gain = draw.evenly() ? parameter(0.2, 1.5) : null;
    bias = biased ? parameter(2, 0) : null;
    keep = draw.of(Keep.INPUT, Keep.INPUT, Keep.OUTPUT, null);
    inPlace = keep == null && to == type && draw.evenly();
    name =
        ("seed " + seed + ", " + rows + " x " + width + " at " + Arrays.toString(cuts))
            + (", " + spec + ", x " + Operand.text(x) + ", residual " + Operand.text(residual))
            + (", y " + to + ", keep " + keep);
  }

  private int[] cuts() {
    int blocks = Math.ceilDiv(width, BLOCK);
    int owners = draw.random.nextInt(1, Math.min(blocks, MOST_OWNERS) + 1);
    TreeSet<Integer> all = new TreeSet<>();
    all.add(0);
    all.add(width);
    while (all.size() <= owners) {
      all.add(BLOCK * draw.random.nextInt(1, blocks));
    }
    return all.stream().mapToInt(cut -> cut).toArray();
  }

  private ElementType other(ElementType type) {
    return type == ElementType.FLOAT64 || draw.evenly() ? type : draw.narrowType();
  }

  private Operand filled(ElementType type, Mix mix) {
    double[][] values = draw.rows.of(mix, type, rows, width, 1, true);
    return new Operand(type, place(), draw.gap(GAP), width, values);
  }

  private Place place() {
    return draw.evenly() ? Place.NATIVE : draw.place();
  }

  private Operand parameter(double spread, double mean) {
    ElementType type = draw.of(ElementType.values());
    double[][] values = {draw.rows.scaled(type, width, spread, mean)};
    return new Operand(type, place(), 0, width, values);
  }

  private Norm norm(Backend backend, int threads, Arena arena) {
    Norm.Builder<?> builder = spec.builder(width).backend(backend).threads(threads);
    if (gain != null) {
      builder.gain(gain.in(arena).rows);
    }
    if (bias != null) {
      builder.bias(bias.in(arena).rows);
    }
    return builder.build();
  }

  /** The rows and the results of some columns. */
  private final class Part {
    private final int from;
    private final int to;
    private final Block in;
    private final Block sum;
    private final Block out;
    private final Block slope;
    private final Block skip;
    private final Block dx;
    private final Saved saved;
    private final float[] dgain;
    private final double[] dbias;

    Part(int from, int to, Arena arena) {
      this.from = from;
      this.to = to;
      Operand own = x.columns(from, to);
      in = own.in(arena);
      sum = residual == null ? null : residual.columns(from, to).in(arena);
      out = inPlace ? in : own.empty(ShardCase.this.to).in(arena);
      slope = dy.columns(from, to).in(arena);
      skip = dresidual == null ? null : dresidual.columns(from, to).in(arena);
      dx = own.empty(dy.type()).in(arena);
      saved = keep == null ? null : new Saved(keep, rows + 1);
      dgain = new float[to - from];
      dbias = new double[to - from];
      Arrays.fill(dgain, 0.25f);
    }

    private Rows residual() {
      return sum == null ? null : sum.rows;
    }

    void calls(Norm norm) {
      if (sum != null && saved != null) {
        norm.addAndApply(in.rows, residual(), out.rows, saved);
      } else if (sum != null) {
        norm.addAndApply(in.rows, residual(), out.rows);
      } else if (saved != null) {
        norm.apply(in.rows, out.rows, saved);
      } else {
        norm.apply(in.rows, out.rows);
        return;
      }
      if (saved != null && skip != null) {
        norm.backward(slope.rows, saved, skip.rows, dx.rows, gradientOfGain());
      } else if (saved != null) {
        norm.backward(slope.rows, saved, dx.rows, gradientOfGain());
        norm.backward(slope.rows, saved, slope.rows, gradientOfBias());
      }
    }

    void calls(NormShard shard, SumExchange exchange) {
      if (sum != null && saved != null) {
        shard.addAndApply(in.rows, residual(), out.rows, saved, exchange);
      } else if (sum != null) {
        shard.addAndApply(in.rows, residual(), out.rows, exchange);
      } else if (saved != null) {
        shard.apply(in.rows, out.rows, saved, exchange);
      } else {
        shard.apply(in.rows, out.rows, exchange);
        return;
      }
      if (saved != null && skip != null) {
        shard.backward(slope.rows, saved, skip.rows, dx.rows, gradientOfGain(), exchange);
      } else if (saved != null) {
        shard.backward(slope.rows, saved, dx.rows, gradientOfGain(), exchange);
        shard.backward(slope.rows, saved, slope.rows, gradientOfBias(), exchange);
      }
    }

    private ParameterGradients gradientOfGain() {
      return ParameterGradients.added(dgain, null);
    }

    private ParameterGradients gradientOfBias() {
      return ParameterGradients.assigned(null, dbias);
    }

    void requireSame(Part all, String what) {
      requireSame(out, all.out, what + ", y");
      requireSame(dx, all.dx, what + ", dx");
      requireSame(slope, all.slope, what + ", dx over dy");
      if (sum != null) {
        requireSame(sum, all.sum, what + ", sum");
      }
      if (saved != null) {
        assertThat(saved.rstd()).as(what + ", rstd").isEqualTo(all.saved.rstd());
        assertThat(saved.mean()).as(what + ", mean").isEqualTo(all.saved.mean());
      }
      assertThat(dgain).as(what + ", dgain").isEqualTo(Arrays.copyOfRange(all.dgain, from, to));
      assertThat(dbias).as(what + ", dbias").isEqualTo(Arrays.copyOfRange(all.dbias, from, to));
    }

    private void requireSame(Block got, Block all, String what) {
      for (int r = 0; r < rows; r++) {
        double[] wanted = Arrays.copyOfRange(all.values(r), from, to);
        assertThat(got.mismatch(r, wanted)).as("%s of row %d", what, r).isEqualTo(-1);
      }
      assertThat(got.isGuardIntact()).as(what).isTrue();
    }
  }

  /** Compares the calls of all owners with those of the whole norm in plain Java. */
  void check(Backend backend, int threads, Consumer<double[]> change) throws InterruptedException {
    try (Arena arena = Arena.ofShared()) {
      Part all = new Part(0, width, arena);
      all.calls(norm(Backend.scalar(), 1, arena));
      Norm norm = norm(backend, threads, arena);
      Part[] parts = new Part[cuts.length - 1];
      Arrays.setAll(parts, owner -> new Part(cuts[owner], cuts[owner + 1], arena));
      Owners owners = new Owners(parts.length, change);
      owners.run(
          owner -> parts[owner].calls(norm.shard(cuts[owner], cuts[owner + 1]), owners.of(owner)));
      for (Part part : parts) {
        String what = name + ", columns " + part.from + " to " + part.to + " on " + backend;
        part.requireSame(all, what);
      }
    } catch (RuntimeException e) {
      throw new AssertionError(name + " on " + backend, e);
    }
  }
}
