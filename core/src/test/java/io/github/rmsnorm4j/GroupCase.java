package io.github.rmsnorm4j;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/** A call of rows with groups, drawn from a seed, and norms of single groups to compare it with. */
final class GroupCase {
  private static final int GAP = 9;

  private final Draw draw;
  private final Arena arena;
  private final int groups;
  private final int width;
  private final int rows;
  private final NormSpec spec;
  private final Operand x;
  private final Operand residual;
  private final Operand dy;
  private final ElementType to;
  private final boolean ofCall;

  /** Whether all groups share gain and bias. */
  private final boolean shared;

  private final double[] gain;

  private final double[] bias;
  private final Keep keep;
  private final String name;
  private final CallResults wanted;

  GroupCase(int seed, ElementType type, int rows, int groups, int width, Arena arena) {
    draw = new Draw(seed);
    this.arena = arena;
    this.rows = rows;
    this.groups = groups;
    this.width = width;
    boolean centred = draw.evenly();
    Variant any =
        Variant.any(
            draw.random, centred, width, draw.epsilon(new double[] {1e-6, 1e-300}, width, Mix.ANY));
    Variant whole = any.whole();
    boolean biased = draw.evenly();
    spec = (biased ? whole.withoutCasts() : whole).spec();
    x = filled(type);
    residual = draw.onceIn(3) ? filled(type) : null;
    dy = filled(type);
    to = type == ElementType.FLOAT64 ? type : draw.narrowType();
    shared = draw.onceIn(3);
    int n = shared ? width : groups * width;
    gain = draw.onceIn(4) ? null : draw.rows.scaled(ElementType.FLOAT32, n, 0.2, 1.5);
    bias = biased ? draw.rows.scaled(ElementType.FLOAT32, n, 2, 0) : null;
    ofCall = draw.evenly();
    keep = draw.of(Keep.values());
    name = "seed " + seed + ", " + rows + " x " + groups + " x " + width + " " + spec;
    wanted = results();
  }

  private Operand filled(ElementType type) {
    Place place = draw.evenly() ? Place.NATIVE : draw.place();
    Mix mix = draw.of(Mix.ANY, Mix.ORDINARY, Mix.ORDINARY);
    double[][] groupRows = draw.rows.of(mix, type, rows * groups, width, 1, false);
    return new Operand(type, place, draw.gap(GAP), groups * width, joined(groupRows));
  }

  private double[][] joined(double[][] ofGroups) {
    double[][] joined = new double[rows][groups * width];
    for (int i = 0; i < ofGroups.length; i++) {
      System.arraycopy(ofGroups[i], 0, joined[i / groups], i % groups * width, width);
    }
    return joined;
  }

  /** The rows of one group; of all groups where these share gain and bias. */
  private Rows ofGroup(Block block, int group) {
    Rows all = block.rows;
    long from = (long) group * width * all.type().bytes();
    return Rows.of(all.segment().asSlice(from), all.type(), rows, width, all.rowStride());
  }

  private static float[] floats(double[] values, int from, int n) {
    if (values == null) {
      return null;
    }
    float[] floats = new float[n];
    for (int i = 0; i < n; i++) {
      floats[i] = (float) values[from + i];
    }
    return floats;
  }

  private Norm norm(NormSpec of, int n, int from, UnaryOperator<NormBuilder<?>> more) {
    NormBuilder<?> builder = more.apply(of.builder(n));
    int length = shared ? width : n;
    int start = shared ? 0 : from;
    if (!ofCall && gain != null) {
      builder.gain(floats(gain, start, length));
    }
    if (!ofCall && bias != null) {
      builder.bias(floats(bias, start, length));
    }
    return builder.build();
  }

  private Rows ofCall(double[] values, int from, int n) {
    float[] floats = ofCall ? floats(values, shared ? 0 : from, shared ? width : n) : null;
    return floats == null ? null : Rows.of(floats, floats.length);
  }

  private CallResults empty() {
    int parameters = shared ? width : groups * width;
    return new CallResults(x, residual, dy, to, rows * groups, parameters, arena);
  }

  private CallResults results() {
    CallResults results = empty();
    UnaryOperator<NormBuilder<?>> plain = builder -> builder.backend(Backend.scalar());
    if (shared) {
      shared(results, norm(spec, width, 0, plain));
      return results;
    }
    for (int g = 0; g < groups; g++) {
      int from = g * width;
      Norm norm = norm(spec, width, from, plain);
      Rows y = ofGroup(results.out, g);
      Saved saved = new Saved(keep, rows);
      Rows gainOfCall = ofCall(gain, from, width);
      Rows biasOfCall = ofCall(bias, from, width);
      if (residual == null) {
        norm.withParameters(gainOfCall, biasOfCall).apply(ofGroup(results.in, g), y, saved);
      } else {
        Rows sum = ofGroup(results.sum, g);
        norm.withParameters(gainOfCall, biasOfCall)
            .addAndApply(ofGroup(results.in, g), sum, y, saved);
      }
      double[] dgain = new double[width];
      double[] dbias = new double[width];
      ParameterGradients gradients = ParameterGradients.assigned(dgain, dbias);
      norm.backward(ofGroup(results.slope, g), saved, ofGroup(results.dx, g), gradients);
      System.arraycopy(dgain, 0, results.dgain, from, width);
      System.arraycopy(dbias, 0, results.dbias, from, width);
      for (int r = 0; r < rows; r++) {
        results.rstd[r * groups + g] = saved.rstd() == null ? 0 : saved.rstd()[r];
        results.mean[r * groups + g] = saved.mean() == null ? 0 : saved.mean()[r];
      }
    }
    return results;
  }

  /** Groups that lie one after the other are rows of a norm. */
  private void shared(CallResults results, Norm norm) {
    Block in = apart(results.in);
    Block sum = results.sum == null ? null : apart(results.sum);
    Block out = apart(results.out);
    Block slope = apart(results.slope);
    Block dx = apart(results.dx);
    Saved saved = new Saved(keep, rows * groups);
    Rows g = ofCall(gain, 0, width);
    Rows b = ofCall(bias, 0, width);
    if (sum == null) {
      norm.withParameters(g, b).apply(in.rows, out.rows, saved);
    } else {
      norm.withParameters(g, b).addAndApply(in.rows, sum.rows, out.rows, saved);
    }
    ParameterGradients gradients = ParameterGradients.assigned(results.dgain, results.dbias);
    norm.backward(slope.rows, saved, dx.rows, gradients);
    together(out, results.out);
    together(dx, results.dx);
    if (sum != null) {
      together(sum, results.sum);
    }
    results.take(saved, 0, rows * groups);
  }

  private Block apart(Block block) {
    Block apart = new Block(arena, Place.NATIVE, block.rows.type(), rows * groups, width, width);
    for (int i = 0; i < rows * groups; i++) {
      double[] row = block.values(i / groups);
      apart.put(i, Arrays.copyOfRange(row, i % groups * width, (i % groups + 1) * width));
    }
    return apart;
  }

  private void together(Block apart, Block into) {
    double[][] ofGroups = new double[rows * groups][];
    Arrays.setAll(ofGroups, apart::values);
    double[][] all = joined(ofGroups);
    for (int r = 0; r < rows; r++) {
      into.put(r, all[r]);
    }
  }

  /** Makes the calls on a backend, and compares them with those of the single groups. */
  void check(Backend backend, int threads) {
    String what =
        name
            + (shared ? ", shared" : "")
            + (ofCall ? ", of the call" : "")
            + ", x "
            + Operand.text(x)
            + ", keep "
            + keep
            + " on "
            + backend
            + ", "
            + threads
            + " threads";
    CallResults results = empty();
    NormSpec of = spec.withGroups(RowGroups.ofCount(groups));
    Norm norm = norm(of, groups * width, 0, b -> b.backend(backend).threads(threads));
    Rows g = ofCall(gain, 0, groups * width);
    Rows b = ofCall(bias, 0, groups * width);
    Saved saved = new Saved(keep, rows);
    Rows in = results.in.rows;
    Rows out = results.out.rows;
    try {
      if (residual == null) {
        norm.withParameters(g, b).apply(in, out, saved);
      } else {
        norm.withParameters(g, b).addAndApply(in, results.sum.rows, out, saved);
      }
      ParameterGradients gradients = ParameterGradients.assigned(results.dgain, results.dbias);
      norm.backward(results.slope.rows, saved, results.dx.rows, gradients);
    } catch (RuntimeException e) {
      throw new AssertionError(what, e);
    }
    results.take(saved, 0, rows * groups);
    results.requireSame(wanted, what);
  }
}
