package io.github.rmsnorm4j;

import io.github.rmsnorm4j.RandomRows.Mix;
import java.lang.foreign.Arena;
import java.util.Arrays;

/** A call of rows of several samples, drawn from a seed, and calls of the single samples. */
final class SampleCase {
  private static final int GAP = 9;

  private final Draw draw;
  private final Arena arena;
  private final int samples;
  private final int rows;
  private final int width;
  private final NormSpec spec;
  private final Operand x;
  private final Operand residual;
  private final Operand dy;
  private final ElementType to;
  private final Block gain;
  private final Block bias;
  private final Keep keep;
  private final boolean doubles;
  private final String name;
  private final CallResults wanted;

  SampleCase(int seed, ElementType type, int samples, int rows, int width, Arena arena) {
    draw = new Draw(seed);
    this.arena = arena;
    this.samples = samples;
    this.rows = rows;
    this.width = width;
    Variant any =
        Variant.any(
            draw.random,
            draw.evenly(),
            width,
            draw.epsilon(new double[] {1e-6, 1e-300}, width, Mix.ANY));
    boolean biased = draw.evenly();
    NormSpec drawn = (biased ? any.withoutCasts() : any).spec();
    x = filled(type);
    residual = draw.onceIn(3) ? filled(type) : null;
    dy = filled(type);
    to = type == ElementType.FLOAT64 ? type : draw.narrowType();
    gain = biased && draw.onceIn(3) ? null : parameter(0.2, 1.5);
    bias = biased ? parameter(2, 0) : null;
    keep = draw.of(Keep.values());
    boolean goesBack = keep != Keep.OUTPUT || drawn.part().elements(width) == width;
    spec = goesBack ? drawn : drawn.withPart(RowPart.WHOLE);
    doubles = type == ElementType.FLOAT64 || draw.evenly();
    name = "seed " + seed + ", " + samples + " x " + rows + " x " + width + " " + spec;
    wanted = results();
  }

  private Operand filled(ElementType type) {
    Place place = draw.evenly() ? Place.NATIVE : draw.place();
    Mix mix = draw.of(Mix.ANY, Mix.ORDINARY, Mix.ORDINARY);
    double[][] values = draw.rows.of(mix, type, samples * rows, width, 1, false);
    return new Operand(type, place, draw.gap(GAP), width, values);
  }

  /** A row for each sample, of a type of its own. */
  private Block parameter(double spread, double mean) {
    ElementType type = draw.of(ElementType.values());
    double[][] values = new double[samples][];
    Arrays.setAll(values, i -> draw.rows.scaled(type, width, spread, mean));
    Place place = draw.evenly() ? Place.NATIVE : draw.place();
    return new Operand(type, place, draw.gap(GAP), width, values).in(arena);
  }

  private static Rows range(Block block, long first, long n) {
    if (block == null) {
      return null;
    }
    Rows all = block.rows;
    long from = first * all.rowStride() * all.type().bytes();
    return Rows.of(all.segment().asSlice(from), all.type(), n, all.width(), all.rowStride());
  }

  private CallResults empty() {
    return new CallResults(x, residual, dy, to, samples * rows, samples * width, arena);
  }

  private CallResults results() {
    CallResults results = empty();
    Norm norm = spec.builder(width).backend(Backend.scalar()).build();
    for (int s = 0; s < samples; s++) {
      calls(norm, results, s, 1);
    }
    return results;
  }

  /** Makes the calls of some samples, one after the other in memory. */
  private void calls(Norm norm, CallResults results, int first, int n) {
    int row = first * rows;
    int count = n * rows;
    Rows g = range(gain, first, n);
    Rows b = range(bias, first, n);
    Rows in = range(results.in, row, count);
    Rows out = range(results.out, row, count);
    Saved saved = new Saved(keep, count);
    if (residual == null) {
      norm.withParameters(g, b).apply(in, out, saved);
    } else {
      norm.withParameters(g, b).addAndApply(in, range(results.sum, row, count), out, saved);
    }
    Rows slope = range(results.slope, row, count);
    Rows dx = range(results.dx, row, count);
    gradients(norm, saved, slope, dx, results, first * width, n * width);
    results.take(saved, row, count);
  }

  private void gradients(
      Norm norm, Saved saved, Rows slope, Rows dx, CallResults results, int from, int n) {
    if (doubles) {
      double[] dgain = new double[n];
      double[] dbias = new double[n];
      norm.backward(slope, saved, dx, ParameterGradients.assigned(dgain, dbias));
      System.arraycopy(dgain, 0, results.dgain, from, n);
      System.arraycopy(dbias, 0, results.dbias, from, n);
      return;
    }
    float[] dgain = new float[n];
    float[] dbias = new float[n];
    Arrays.fill(dgain, 0.25f);
    norm.backward(slope, saved, dx, ParameterGradients.added(dgain, dbias));
    for (int i = 0; i < n; i++) {
      results.dgain[from + i] = dgain[i];
      results.dbias[from + i] = dbias[i];
    }
  }

  /** Makes one call on a backend, and compares it with those of the single samples. */
  void check(Backend backend, int threads) {
    String what =
        (name + ", x " + Operand.text(x) + ", keep " + keep)
            + (" on " + backend + ", " + threads + " threads");
    CallResults results = empty();
    Norm norm = spec.builder(width).backend(backend).threads(threads).build();
    try {
      calls(norm, results, 0, samples);
    } catch (RuntimeException e) {
      throw new AssertionError(what, e);
    }
    results.requireSame(wanted, what);
  }
}
