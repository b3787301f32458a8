package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.reference.AddedResidual;
import io.github.rmsnorm4j.reference.Casts;
import io.github.rmsnorm4j.reference.Definitions;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * Norms beside their formulas in plain doubles. Where a formula rounds in the middle, a number that
 * lies between two of the type may fall to the other side; nothing else may differ by as much.
 */
final class FormulaCheck {
  /** Numbers as near as that to the middle between two are rarer than this. */
  private static final double OTHER_SIDE = 2e-3;

  private double worst;
  private String where = "";
  private long casts;
  private long otherSide;

  /** Makes the call and compares; residual, gain and bias may be null. */
  void see(
      Norm norm, Variant is, Values x, Values residual, Values gain, Values bias, ElementType out) {
    ElementType arithmetic =
        x.type() == ElementType.FLOAT64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    AddedResidual rows =
        residual == null
            ? new AddedResidual(null, x.of(), x.of())
            : AddedResidual.of(x.of(), residual.of(), arithmetic, residual.type(), is.rounding());
    double[] h = rows.normalised();
    double mean = is.centred() ? Definitions.mean(rows.measured()) : 0;
    double m =
        is.centred()
            ? Definitions.variance(rows.measured())
            : Definitions.meanSquare(rows.measured(), is.part()) * is.part() / is.count();
    ElementType each =
        is.order() == CastOrder.NONE && arithmetic != ElementType.FLOAT64 ? x.type() : null;
    double root =
        each != null
            ? Casts.rootInType(rows.measured(), is.part(), is.epsilon(), is.placement(), each)
            : Definitions.root(m, is.epsilon(), is.placement());
    double[] stored = gain == null ? null : rounded(gain.of(), arithmetic);
    double[] g = Definitions.offsetGain(stored, is.gainOffset());
    double[] b = bias == null ? null : rounded(bias.of(), arithmetic);
    ElementType weight = gain == null ? null : gain.type();
    double[] expected =
        switch (is.order()) {
          case FLOAT32, DIVIDED, GAIN_FIRST -> Definitions.output(h, mean, root, g, b);
          case ROUNDED_ROOT -> Casts.roundedRoot(h, 1 / root, x.type(), g);
          case NONE -> Casts.none(h, root, x.type(), g);
          case LLAMA -> Casts.llama(h, 1 / root, x.type(), g);
          case ONNX -> Casts.onnx(h, root, x.type(), g);
          case T5 -> Casts.t5(h, 1 / root, arithmetic == ElementType.FLOAT64 ? null : weight, g);
        };
    ElementType cast =
        switch (is.order()) {
          case FLOAT32, DIVIDED, GAIN_FIRST -> null;
          case LLAMA, ONNX, ROUNDED_ROOT, NONE -> x.type();
          case T5 -> weight;
        };
    double[] y = run(norm, x, residual, rows.stored(), out);
    double largest = Arrays.stream(h).map(Math::abs).max().orElseThrow() / root;
    ElementType narrower = out.bytes() < arithmetic.bytes() ? out : null;
    for (int i = 0; i < y.length; i++) {
      double v = Math.abs(h[i] - mean) / root;
      double factor = stored == null ? 1 : Math.abs(stored[i]) + Math.abs(is.gainOffset());
      double parts = v * factor + (b == null ? 0 : Math.abs(b[i]));
      double allowed = roundings(is, bias != null, x.type(), h.length) * parts;
      if (is.centred()) {
        allowed += (arithmetic == x.type() ? h.length * 0x1p-53 : 0x1p-46) * largest * factor;
      }
      allowed += Float.MIN_VALUE * (1 + factor);
      boolean rounds = cast != null && cast.bytes() == 2 && arithmetic != ElementType.FLOAT64;
      double step =
          rounds ? 2 * Rounding.half(cast, v * 1.001) * Math.abs(g == null ? 1 : g[i]) : 0;
      see(y[i], expected[i], allowed, step, narrower, norm + ", " + is + ", element " + i);
    }
  }

  private void see(
      double y, double expected, double allowed, double step, ElementType out, String what) {
    casts += step > 0 ? 1 : 0;
    double error = Math.abs(y - expected);
    double bound = withOutput(expected, allowed, out);
    if (step > 0 && error > bound) {
      otherSide++;
      bound = withOutput(expected, allowed + step, out);
    }
    double ratio = error == 0 ? 0 : error / bound;
    if (!(ratio <= worst)) {
      worst = ratio;
      where = what + ": " + y + ", the formula gives " + expected;
    }
  }

  private static double withOutput(double expected, double allowed, ElementType out) {
    return allowed + (out != null ? Rounding.half(out, Math.abs(expected) + allowed) : 0);
  }

  /** Three, five for LayerNorm; two for an offset, one for a bias, one of the formula's cast. */
  private static double roundings(Variant is, boolean bias, ElementType in, int width) {
    if (in == ElementType.FLOAT64) {
      return (20 + width) * 0x1p-53; // The formula's own sum is one of width roundings.
    }
    int count = is.centred() ? 5 : 3;
    count += is.gainOffset() == 0 ? 0 : 2;
    count += bias ? 1 : 0;
    count += is.order() == CastOrder.FLOAT32 ? 0 : 1;
    return (count + 0.01) * 0x1p-24;
  }

  /** The norm's row, after a look at the residual, which has to be as the formula has it. */
  private static double[] run(
      Norm norm, Values x, Values residual, double[] stored, ElementType out) {
    int n = x.of().length;
    try (Arena arena = Arena.ofConfined()) {
      Block in = new Block(arena, Place.ARRAY, x.type(), 1, n, n);
      Block y = new Block(arena, Place.ARRAY, out, 1, n, n);
      in.put(0, x.of());
      if (residual == null) {
        norm.apply(in.rows, y.rows);
      } else {
        Block sum = new Block(arena, Place.ARRAY, residual.type(), 1, n, n);
        sum.put(0, residual.of());
        norm.addAndApply(in.rows, sum.rows, y.rows);
        assertThat(sum.values(0)).as("residual of " + norm).isEqualTo(stored);
      }
      return y.values(0);
    }
  }

  private static double[] rounded(double[] values, ElementType type) {
    return Arrays.stream(values).map(v -> Casts.round(v, type)).toArray();
  }

  void isBelowOne(String what) {
    System.out.printf("%s: at worst %.3f of the bound (%s)%n", what, worst, where);
    assertThat(worst).as(what + ": " + where).isBetween(1e-9, 1.0);
    assertThat(otherSide)
        .as(what + ": of %d casts", casts)
        .isLessThanOrEqualTo((long) (OTHER_SIDE * casts));
  }
}
