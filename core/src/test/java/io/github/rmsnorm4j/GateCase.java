package io.github.rmsnorm4j;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * A call of a norm with a gate and the backward call after it, everything about them drawn from a
 * seed, compared with the contract bit by bit.
 */
final class GateCase {
  private static final double[] EPSILONS = {0.0, 1e-12, 1e-6, 0.1, 1e-300};
  private static final Gate[] GATES = {Gate.SILU, Gate.SIGMOID, Gate.SILU_BEFORE};

  private final long seed;
  private final int width;
  private final int rows;
  private final Variant norm;
  private final Operand x;
  private final Operand z;
  private final Operand y;
  private final Operand dy;
  private final Operand dx;
  private final Operand dz;
  private final double[] gain;
  private final double[] bias;
  private final boolean safe;
  private final boolean centred;

  /** Where y goes: 0 rows of its own, 1 x, 2 z; then dx, or dz, goes where dy is. */
  private final int over;

  private final Keep keep;

  GateCase(long seed, int rows, int width, ElementType type) {
    Draw draw = new Draw(seed);
    this.seed = seed;
    this.rows = rows;
    this.width = width;
    Gate gate = draw.of(GATES);
    centred = gate.isAfter() && draw.onceIn(3);
    Mix mix = draw.mix();
    double epsilon = draw.epsilon(EPSILONS, width, mix);
    Variant any = Variant.any(draw.random, centred, width, epsilon).with(gate);
    Variant part = draw.evenly() ? any.whole() : any;
    boolean biased = draw.onceIn(3);
    norm = biased ? part.withoutCasts() : part;
    boolean plain = draw.evenly();
    boolean heap = draw.evenly();
    over = draw.random.nextInt(4);
    Operand in = operand(draw, type, plain, heap, null);
    x = filled(in, draw.rows.of(mix, in.type(), rows, width, 1, false));
    Operand like = operand(draw, type, plain, heap, null);
    z = filled(like, gates(draw, like.type()));
    Operand under = over == 1 ? x : over == 2 ? z : null;
    y = under != null ? under : operand(draw, type, plain, heap, new double[rows][0]);
    Operand slopes = operand(draw, type, plain, heap, null);
    dy = filled(slopes, draw.rows.of(Mix.ORDINARY, slopes.type(), rows, width, 1, false));
    dx = over == 1 ? dy : operand(draw, type, plain, heap, new double[rows][0]);
    dz = over == 2 ? dy : operand(draw, type, plain, heap, new double[rows][0]);
    gain = draw.evenly() ? draw.rows.scaled(ElementType.FLOAT32, width, 2, 1) : null;
    bias = biased ? draw.rows.scaled(ElementType.FLOAT32, width, 1, 0) : null;
    safe = !plain && draw.onceIn(4);
    keep = draw.of(Keep.INPUT, Keep.NOTHING);
  }

  private Operand filled(Operand like, double[][] values) {
    return new Operand(like.type(), like.place(), like.gap(), width, values);
  }

  private Operand operand(
      Draw draw, ElementType type, boolean plain, boolean heap, double[][] values) {
    boolean same = plain || type == ElementType.FLOAT64;
    Place place = plain ? draw.plainPlace(heap) : draw.place();
    return new Operand(same ? type : draw.narrowType(), place, draw.gap(9), width, values);
  }

  /** Ordinary ones, or over the whole range of the exponential, with its ends. */
  private double[][] gates(Draw draw, ElementType type) {
    double[] ends = {-0.0, Double.NaN, 1 / 0.0, -1 / 0.0, 87.25, 87, 709, -709, -88.8, 3e38, -3e38};
    double[][] values = new double[rows][];
    for (int r = 0; r < rows; r++) {
      double size = draw.of(1.0, 4.0, 100.0, 800.0);
      values[r] = draw.rows.scaled(type, width, size, 0);
      if (draw.onceIn(3)) {
        values[r][draw.random.nextInt(width)] = Rounding.to(type, draw.of(ends));
      }
    }
    return values;
  }

  private Norm norm(Backend backend, int threads) {
    return norm.norm(
        builder -> {
          builder.backend(backend).threads(threads);
          if (safe) {
            builder.safe();
          }
          if (gain != null) {
            builder.gain(gain);
          }
          if (bias != null) {
            builder.bias(bias);
          }
        });
  }

  private Contract.Result expected(Variant norm, int r, ElementType out) {
    // The type of the gain decides what T5 rounds to.
    Values g = gain == null ? null : new Values(ElementType.FLOAT64, gain);
    Values b = bias == null ? null : new Values(ElementType.FLOAT64, bias);
    return Contract.row(norm, Operand.row(x, r), null, Operand.row(z, r), g, b, out);
  }

  void check(Backend backend, int threads) {
    try (Arena arena = Arena.ofShared()) {
      forward(norm(backend, threads), arena);
      backward(norm(backend, threads), arena);
    } catch (RuntimeException e) {
      throw new AssertionError(this + " on " + backend, e);
    }
  }

  private void forward(Norm norm, Arena arena) {
    Block in = x.in(arena);
    Block gates = z.in(arena);
    Block out = over == 1 ? in : over == 2 ? gates : y.in(arena);
    norm.applyGated(in.rows, gates.rows, out.rows);
    for (int r = 0; r < rows; r++) {
      compare(norm, "y", out, r, expected(this.norm, r, y.type()).y());
      if (out != in) {
        compare(norm, "x", in, r, x.rows()[r]);
      }
      if (out != gates) {
        compare(norm, "z", gates, r, z.rows()[r]);
      }
    }
    require(norm, in.isGuardIntact() && gates.isGuardIntact() && out.isGuardIntact());
  }

  private void backward(Norm norm, Arena arena) {
    Block in = x.in(arena);
    Block gates = z.in(arena);
    Block slopes = dy.in(arena);
    Block ofX = over == 1 ? slopes : dx.in(arena);
    Block ofZ = over == 2 ? slopes : dz.in(arena);
    Saved saved = new Saved(keep, rows);
    norm.applyGated(in.rows, gates.rows, filled(x, x.rows()).in(arena).rows, saved);
    double[] dgain = new double[width];
    double[] dbias = new double[width];
    ParameterGradients sums = ParameterGradients.assigned(dgain, dbias);
    norm.backwardGated(slopes.rows, saved, ofX.rows, ofZ.rows, sums);
    BackwardContract.Result wanted = wanted();
    for (int r = 0; r < rows; r++) {
      compare(norm, "dx", ofX, r, wanted.dx()[r]);
      double[] rounded = wanted.dz()[r];
      compare(
          norm, "dz", ofZ, r, Arrays.stream(rounded).map(v -> Rounding.to(dz.type(), v)).toArray());
    }
    require(norm, Arrays.equals(dgain, wanted.dgain()) && Arrays.equals(dbias, wanted.dbias()));
    require(norm, ofX.isGuardIntact() && ofZ.isGuardIntact());
  }

  private BackwardContract.Result wanted() {
    double[] mean = new double[rows];
    double[] rstd = new double[rows];
    // A statistic that was not kept is computed again, and the gradient knows no cast.
    Variant measured = keep == Keep.NOTHING ? norm.withoutCasts() : norm;
    for (int r = 0; r < rows; r++) {
      Contract.Result forward = expected(measured, r, y.type());
      mean[r] = forward.mean();
      rstd[r] = forward.rstd();
    }
    boolean float64 = x.type() == ElementType.FLOAT64;
    double offset = norm.gainOffset();
    double[] g =
        gain == null
            ? null
            : Arrays.stream(gain)
                .map(v -> offset == 0 ? v : float64 ? v + offset : (float) v + (float) offset)
                .toArray();
    BackwardContract.Choice choice =
        new BackwardContract.Choice(
            centred,
            norm.part(),
            norm.count(),
            norm.epsilon(),
            norm.placement(),
            float64,
            false,
            g,
            norm.gate().isAfter() ? bias : null,
            norm.gate());
    return BackwardContract.of(choice, x.rows(), z.rows(), dy.rows(), mean, rstd, null, dx.type());
  }

  private void compare(Norm norm, String name, Block actual, int row, double[] wanted) {
    int i = actual.mismatch(row, wanted);
    if (i >= 0) {
      throw new AssertionError(
          "%s on %s: %s of row %d, element %d is %s, the contract says %s; z is %s"
              .formatted(
                  this,
                  norm.backend(),
                  name,
                  row,
                  i,
                  actual.values(row)[i],
                  wanted[i],
                  z.rows()[row][i]));
    }
  }

  private void require(Norm norm, boolean holds) {
    if (!holds) {
      throw new AssertionError(this + " on " + norm.backend() + ": sums or gaps");
    }
  }

  @Override
  public String toString() {
    return ("seed " + seed + ", " + norm + ", " + rows + " rows, over " + over + ", " + keep)
        + (", x " + Operand.text(x) + ", z " + Operand.text(z) + ", y " + Operand.text(y))
        + (", dy " + Operand.text(dy) + ", dx " + Operand.text(dx) + ", dz " + Operand.text(dz))
        + ((gain == null ? "" : ", gain")
            + (bias == null ? "" : ", bias")
            + (safe ? ", safe" : ""));
  }
}
