package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** One call of a norm, everything about it drawn from a seed, and the contract's answer. */
final class Case {
  private static final double[] EPSILONS = {0.0, 1e-12, 1e-6, 1e-5, 0.1, 1e-200, 1e-300};
  private static final int GAP = 9;

  private final String name;
  private final Shape shape;
  private final Variant norm;
  private final Operand x;
  private final Operand y;
  private final Operand residual;
  private final Operand gain;
  private final Operand bias;
  private final boolean inPlace;
  private final boolean safe;
  private final boolean ownParameters;
  private final boolean statistics;

  /** The results of the groups of all rows, one row after the other. */
  private final Contract.Result[] expected;

  private Case(String name, Draw draw, Shape shape, Mix mix, int choice) {
    this.name = name;
    this.shape = shape;
    int width = shape.width();
    int rows = shape.rows();
    boolean plain = shape.plain();
    double usual = draw.epsilon(EPSILONS, width, mix);
    double epsilon = mix == Mix.ANY && draw.onceIn(8) ? 1e100 : usual;
    Variant any = Variant.any(draw.random, shape.centred(), width, epsilon);
    Variant part = plain ? any.whole() : any;
    boolean biased = (choice & 2) != 0;
    norm = (biased ? part.withoutCasts() : part).withGroups(draw.groups(width));
    int length = draw.parameterLength(norm);
    boolean adds = (choice & 4) != 0;
    ElementType type = shape.type();
    Place place = plain ? draw.plainPlace(shape.heap()) : draw.place(shape.heap());
    boolean tiny = epsilon < 1e-100 && !adds;
    double[][] values = draw.rows.of(mix, type, rows, width, shape.chunk(), tiny);
    x = new Operand(type, place, draw.gap(GAP), width, values);
    boolean elsewhere = (choice & 8) != 0;
    inPlace = !elsewhere && draw.onceIn(3);
    ElementType to = plain ? type : inPlace ? sameSize(draw, type) : draw.type();
    boolean toHeap = elsewhere != shape.heap();
    Place toPlace = plain ? draw.plainPlace(toHeap) : draw.place(toHeap);
    int toGap = draw.gap(GAP);
    y =
        new Operand(
            to, inPlace ? place : toPlace, inPlace ? x.gap() : toGap, width, new double[rows][0]);
    residual = adds ? residual(draw, mix) : null;
    safe = !plain && (isPlain() || draw.onceIn(4));
    gain = (choice & 1) != 0 ? parameter(draw).first(length) : null;
    bias = biased ? parameter(draw).first(length) : null;
    ownParameters = biased && gain == null || draw.evenly();
    statistics = ownParameters && draw.evenly();
    int groups = norm.groups();
    expected = new Contract.Result[rows * groups];
    for (int r = 0; r < rows; r++) {
      Values added = Operand.row(residual, r);
      Values g = Operand.row(gain, 0);
      Values b = Operand.row(bias, 0);
      Contract.Result[] row = Contract.groups(norm, Operand.row(x, r), added, g, b, to);
      System.arraycopy(row, 0, expected, r * groups, groups);
    }
  }

  /** Any call of a given width and type. */
  static Case of(long seed, int width, int rows, ElementType in) {
    Draw draw = new Draw(~seed);
    return of(seed, Shape.of(Direction.FORWARD, draw, in, rows, width));
  }

  /** Any call of a shape. */
  static Case of(long seed, Shape shape) {
    Draw draw = new Draw(seed);
    String name = "seed " + seed + ", " + shape;
    return new Case(name, draw, shape, draw.mix(), draw.choice());
  }

  /** One of a stratum. */
  static Case of(Recipe recipe) {
    Draw draw = new Draw(recipe.seed());
    Shape shape = recipe.stratum().draw(draw, recipe.seed());
    String name = recipe + ", " + shape;
    return new Case(name, draw, shape, recipe.mix(), recipe.choice());
  }

  private Operand residual(Draw draw, Mix mix) {
    ElementType type = x.type();
    if (!shape.plain() && type != ElementType.FLOAT64) {
      type = draw.narrowType();
    }
    Mix added = mix == Mix.ANY ? Mix.ANY : Mix.ORDINARY;
    double[][] values = draw.rows.of(added, type, shape.rows(), x.width(), 1, false);
    Place place = shape.plain() ? draw.plainPlace(shape.heap()) : draw.place();
    return new Operand(type, place, draw.gap(GAP), x.width(), values);
  }

  private Operand parameter(Draw draw) {
    return draw.parameter(shape.width(), 2, draw.random.nextDouble(-1, 1));
  }

  private static ElementType sameSize(Draw draw, ElementType in) {
    return in.bytes() == 2 ? draw.of(ElementType.FLOAT16, ElementType.BFLOAT16) : in;
  }

  Variant norm() {
    return norm;
  }

  /** Read off the call, and not off what was asked for. */
  Shape shape() {
    ElementType type = x.type();
    boolean heap = x.place().isHeap();
    boolean plain = isPlain() && !safe;
    int rows = x.rows().length;
    return new Shape(Direction.FORWARD, type, heap, norm.centred(), plain, rows, x.width());
  }

  /** As in {@link Recipe}. */
  int choice() {
    boolean elsewhere = x.place().isHeap() != y.place().isHeap();
    return (gain != null ? 1 : 0)
        + (bias != null ? 2 : 0)
        + (residual != null ? 4 : 0)
        + (elsewhere ? 8 : 0);
  }

  private boolean isPlain() {
    ElementType type = x.type();
    boolean sameMemory = residual == null || residual.place().isHeap() == x.place().isHeap();
    boolean added = residual == null || residual.isPlain(type) && sameMemory;
    return x.isPlain(type) && y.isPlain(type) && added && norm.part() == norm.width();
  }

  /** Which rows leave the range of their arithmetic. */
  boolean[] outOfRange() {
    boolean[] out = new boolean[shape.rows()];
    for (int i = 0; i < expected.length; i++) {
      out[i / norm.groups()] |= expected[i].outOfRange();
    }
    return out;
  }

  /** Makes the call on a backend, and compares every bit with the contract. */
  void check(Backend backend, int threads) {
    try (Arena arena = Arena.ofShared()) {
      check(backend, threads, arena);
    } catch (RuntimeException e) {
      throw new AssertionError(name + " on " + backend + ", " + threads + " threads", e);
    }
  }

  private void check(Backend backend, int threads, Arena arena) {
    Block in = x.in(arena);
    Block out = inPlace ? in.as(y.type()) : y.in(arena);
    Block sum = residual == null ? null : residual.in(arena);
    Norm norm = this.norm.norm(builder -> configure(builder, backend, threads, arena));
    double[][] kept = apply(norm, in.rows, sum == null ? null : sum.rows, out.rows, arena);
    String what = describe(norm);
    compare(what, in, out, sum);
    if (statistics) {
      compare(what, kept[0], kept[1]);
    }
  }

  /**
   * Has sums, statistic and output computed one by one. The sums are those of the contract's order.
   * The output is checked where it has to be that of one call.
   *
   * @return what was checked
   */
  Set<String> checkParts(Backend backend, int threads) {
    Set<String> checked = new TreeSet<>();
    try (Arena arena = Arena.ofShared()) {
      Norm norm = this.norm.norm(b -> configure(b, backend, threads, true, arena));
      String what = describe(norm);
      Block in = x.in(arena);
      if (norm.spec().part().isWhole()) {
        double[] wanted = sums();
        double[] sums = new double[wanted.length];
        norm.sums(in.rows, sums);
        assertThat(sums).as(what + ", sums").isEqualTo(wanted);
        checked.add("sums");
      }
      if (residual == null) {
        double[] rstd = new double[expected.length];
        double[] mean = norm.spec().isCentred() ? new double[expected.length] : null;
        RowStatistics all = mean == null ? RowStatistics.of(rstd) : RowStatistics.of(mean, rstd);
        norm.statistics(in.rows, all);
        compare(what, mean, rstd);
        checked.add("statistic");
        Block out = inPlace ? in.as(y.type()) : y.in(arena);
        norm.apply(in.rows, all, out.rows);
        for (int r = 0; r < shape.rows(); r++) {
          if (isOutputOfOneCall(r)) {
            compare(what, "y", out, r, ofRow(r, Contract.Result::y));
            checked.add(outOfRange()[r] ? "output out of range" : "output");
          }
        }
        assertThat(in.isGuardIntact() && out.isGuardIntact()).as(what + ": gaps").isTrue();
      }
    } catch (RuntimeException e) {
      throw new AssertionError(name + " on " + backend, e);
    }
    return checked;
  }

  /**
   * No root divides, except one that is rounded to 16 bits, and no element is scaled because rstd
   * or the mean cannot be used as it is.
   */
  private boolean isOutputOfOneCall(int row) {
    boolean isNarrow = x.type().bytes() == 2;
    boolean divides =
        norm.order() == CastOrder.ONNX
            || norm.order() == CastOrder.DIVIDED
            || norm.order() == CastOrder.NONE_DIVIDED && !isNarrow;
    boolean scaled = false;
    for (int i = row * norm.groups(); i < (row + 1) * norm.groups(); i++) {
      double rstd = expected[i].rstd();
      boolean normal = rstd >= Double.MIN_NORMAL && rstd <= Double.MAX_VALUE;
      scaled |= expected[i].outOfRange() && (norm.centred() && rstd < 1 || !normal);
    }
    return !divides && !(scaled && x.type() == ElementType.FLOAT64);
  }

  /** Of each group, or first the sums and then the sums of squares. */
  private double[] sums() {
    boolean rounds = norm.order() == CastOrder.NONE || norm.order() == CastOrder.NONE_DIVIDED;
    boolean narrow = rounds && x.type().bytes() == 2;
    int n = x.width() / norm.groups();
    double[] sums = new double[expected.length * (norm.centred() ? 2 : 1)];
    for (int i = 0; i < expected.length; i++) {
      int from = i % norm.groups() * n;
      double[] group = Arrays.copyOfRange(x.rows()[i / norm.groups()], from, from + n);
      sums[i] = Moments.rowSum(group);
      double[] squares = Arrays.stream(group).map(v -> v * v).toArray();
      if (narrow) {
        Arrays.setAll(squares, k -> Rounding.to(x.type(), (float) squares[k]));
      }
      sums[sums.length - expected.length + i] = Moments.rowSum(squares);
    }
    return sums;
  }

  private void configure(NormBuilder<?> builder, Backend backend, int threads, Arena arena) {
    configure(builder, backend, threads, ownParameters, arena);
  }

  private void configure(
      NormBuilder<?> builder, Backend backend, int threads, boolean own, Arena arena) {
    builder.threads(threads).backend(backend);
    if (safe) {
      builder.safe();
    }
    if (own && gain != null) {
      builder.gain(gain.in(arena).rows);
    }
    if (own && bias != null) {
      builder.bias(bias.in(arena).rows);
    }
  }

  /** By the door that takes what this call has; gives means and rstds if they are wanted. */
  private double[][] apply(Norm norm, Rows x, Rows residual, Rows y, Arena arena) {
    Rows g = ownParameters ? null : Operand.rows(gain, arena);
    Rows b = ownParameters ? null : Operand.rows(bias, arena);
    double[][] kept = {new double[expected.length], new double[expected.length]};
    boolean mayKeepInput = residual != null || !inPlace;
    if (statistics && mayKeepInput || residual != null && g != null) {
      Saved saved = new Saved(statistics ? Keep.INPUT : Keep.NOTHING, shape.rows());
      if (residual != null) {
        norm.withParameters(g, b).addAndApply(x, residual, y, saved);
      } else {
        norm.apply(x, y, saved);
      }
      return new double[][] {saved.mean(), saved.rstd()};
    }
    if (residual != null) {
      norm.addAndApply(x, residual, y);
    } else if (statistics && norm instanceof LayerNorm layer) {
      layer.apply(x, y, kept[0], kept[1]);
    } else if (statistics && norm instanceof RmsNorm rms) {
      rms.apply(x, y, kept[1]);
    } else if (statistics && norm instanceof L2Norm length) {
      length.apply(x, y, kept[0]);
      return new double[][] {kept[0], null};
    } else if (g == null) {
      norm.apply(x, y);
    } else if (b == null) {
      norm.withParameters(g, null).apply(x, y);
    } else {
      norm.withParameters(g, b).apply(x, y);
    }
    return kept;
  }

  private void compare(String what, Block in, Block out, Block sum) {
    for (int r = 0; r < shape.rows(); r++) {
      compare(what, "y", out, r, ofRow(r, Contract.Result::y));
      if (!inPlace) {
        compare(what, "x", in, r, x.rows()[r]);
      }
      if (sum != null) {
        compare(what, "residual", sum, r, ofRow(r, Contract.Result::residual));
      }
    }
    boolean intact = in.isGuardIntact() && out.isGuardIntact();
    assertThat(intact && (sum == null || sum.isGuardIntact())).as(what + ": gaps").isTrue();
  }

  /** What the groups of a row have, one after the other. */
  private double[] ofRow(int row, Function<Contract.Result, double[]> what) {
    int groups = norm.groups();
    return Arrays.stream(expected, row * groups, (row + 1) * groups)
        .map(what)
        .flatMapToDouble(Arrays::stream)
        .toArray();
  }

  private void compare(String what, String name, Block actual, int row, double[] wanted) {
    int i = actual.mismatch(row, wanted);
    if (i >= 0) {
      throw new AssertionError(
          "%s: %s of row %d, element %d of x = %s is %s, the contract says %s"
              .formatted(what, name, row, i, x.rows()[row][i], actual.values(row)[i], wanted[i]));
    }
  }

  private void compare(String what, double[] mean, double[] rstd) {
    for (int r = 0; r < expected.length; r++) {
      if (rstd != null) {
        same(what, "rstd", r, rstd[r], expected[r].rstd());
      }
      if (mean != null) {
        same(what, "mean or length", r, mean[r], expected[r].mean());
      }
    }
  }

  private static void same(String what, String name, int row, double actual, double wanted) {
    if (Double.doubleToLongBits(actual) != Double.doubleToLongBits(wanted)) {
      throw new AssertionError(
          "%s: %s of row %d is %s, the contract says %s"
              .formatted(what, name, row, actual, wanted));
    }
  }

  private String describe(Norm built) {
    return name
        + (": " + Operand.text(x) + " -> " + Operand.text(y) + (inPlace ? " in place" : ""))
        + (", residual " + Operand.text(residual) + (safe ? ", safe" : ""))
        + (statistics ? ", statistics kept" : "")
        + (", gain " + Operand.text(gain) + ", bias " + Operand.text(bias))
        + (ownParameters ? "" : " of the call")
        + (", " + norm + " on " + built.backend());
  }
}
