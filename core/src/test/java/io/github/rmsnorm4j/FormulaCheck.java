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

  /**
   * Roundings of {@code a * z / (1 + exp(-z))}: three operations, and an error of the exponential
   * of at most 0.9 ulp, or 1.8 roundings.
   */
  private static final int OF_GATE = 5;

  private double worst;
  private String where = "";
  private long casts;
  private long otherSide;

  /** Makes the call and compares; residual, z, gain and bias may be null. */
  void see(
      Norm norm,
      Variant is,
      Values x,
      Values residual,
      Values z,
      Values gain,
      Values bias,
      ElementType out) {
    int n = x.of().length;
    try (Arena arena = Arena.ofConfined()) {
      Block in = block(arena, x);
      Block sum = residual == null ? null : block(arena, residual);
      Block y = new Block(arena, Place.ARRAY, out, 1, n, n);
      if (z != null) {
        norm.applyGated(in.rows, block(arena, z).rows, y.rows);
      } else if (residual == null) {
        norm.apply(in.rows, y.rows);
      } else {
        norm.addAndApply(in.rows, sum.rows, y.rows);
      }
      for (int g = 0; g < is.groups(); g++) {
        Operands operands =
            new Operands(
                group(x, is, g),
                group(residual, is, g),
                group(z, is, g),
                group(gain, is, g),
                group(bias, is, g));
        double[] stored = sum == null ? null : Definitions.group(sum.values(0), is.groups(), g);
        double[] ofGroup = Definitions.group(y.values(0), is.groups(), g);
        see(norm + ", group " + g, is.ofGroup(), operands, ofGroup, stored, out);
      }
    }
  }

  private static Block block(Arena arena, Values values) {
    int n = values.of().length;
    Block block = new Block(arena, Place.ARRAY, values.type(), 1, n, n);
    block.put(0, values.of());
    return block;
  }

  /** A gain or a bias of fewer elements than a row is that of every group. */
  private static Values group(Values of, Variant is, int group) {
    boolean whole = of == null || of.of().length < is.width();
    return whole ? of : new Values(of.type(), Definitions.group(of.of(), is.groups(), group));
  }

  /** What a row of one group is computed from. */
  private record Operands(Values x, Values residual, Values z, Values gain, Values bias) {}

  /** Compares the output of one group, and what its residual was set to. */
  private void see(
      String what, Variant is, Operands operands, double[] y, double[] storedSum, ElementType out) {
    Values x = operands.x;
    Values gain = operands.gain;
    ElementType arithmetic =
        x.type() == ElementType.FLOAT64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
    double[] factors = operands.z == null ? null : Definitions.gate(operands.z.of(), is.gate());
    boolean before = is.gate() == Gate.SILU_BEFORE;
    double[] in = before ? product(x.of(), factors) : x.of();
    Values residual = operands.residual;
    AddedResidual rows =
        residual == null
            ? new AddedResidual(null, in, in)
            : AddedResidual.of(in, residual.of(), arithmetic, residual.type(), is.rounding());
    assertThat(storedSum).as("residual of " + what).isEqualTo(rows.stored());
    double[] h = rows.normalised();
    double mean = is.centred() ? Definitions.mean(rows.measured()) : 0;
    double m =
        is.centred()
            ? Definitions.variance(rows.measured())
            : Definitions.meanSquare(rows.measured(), is.part()) * is.part() / is.count();
    boolean inType = is.order() == CastOrder.NONE || is.order() == CastOrder.NONE_DIVIDED;
    ElementType each = inType && arithmetic != ElementType.FLOAT64 ? x.type() : null;
    double root =
        each != null
            ? Casts.rootInType(rows.measured(), is.part(), is.epsilon(), is.placement(), each)
            : Definitions.root(m, is.epsilon(), is.placement());
    double[] stored = gain == null ? null : rounded(gain.of(), arithmetic);
    double[] g =
        each != null
            ? Casts.gainInType(stored, is.gainOffset(), each)
            : Definitions.offsetGain(stored, is.gainOffset());
    double[] b = operands.bias == null ? null : rounded(operands.bias.of(), arithmetic);
    ElementType weight = gain == null ? null : gain.type();
    double[] expected =
        switch (is.order()) {
          case FLOAT32, DIVIDED, GAIN_FIRST -> Definitions.output(h, mean, root, g, b);
          case ROUNDED_ROOT -> Casts.roundedRoot(h, 1 / root, x.type(), g);
          case NONE -> Casts.none(h, root, false, x.type(), g);
          case NONE_DIVIDED -> Casts.none(h, root, true, x.type(), g);
          case LLAMA -> Casts.llama(h, 1 / root, x.type(), g);
          case ONNX -> Casts.onnx(h, root, x.type(), g);
          case T5 -> Casts.t5(h, 1 / root, arithmetic == ElementType.FLOAT64 ? null : weight, g);
        };
    ElementType cast =
        switch (is.order()) {
          case FLOAT32, DIVIDED, GAIN_FIRST -> null;
          case LLAMA, ONNX, ROUNDED_ROOT, NONE, NONE_DIVIDED -> x.type();
          case T5 -> weight;
        };
    boolean rounds = cast != null && cast.bytes() == 2 && arithmetic != ElementType.FLOAT64;
    if (is.gate().isAfter()) {
      expected = product(rounds ? rounded(expected, cast) : expected, factors);
    }
    double largest = Arrays.stream(h).map(Math::abs).max().orElseThrow() / root;
    ElementType narrower = out.bytes() < arithmetic.bytes() ? out : null;
    for (int i = 0; i < y.length; i++) {
      double v = Math.abs(h[i] - mean) / root;
      double factor = stored == null ? 1 : Math.abs(stored[i]) + Math.abs(is.gainOffset());
      double parts = v * factor + (b == null ? 0 : Math.abs(b[i]));
      double allowed = roundings(is, b != null, x.type(), h.length) * parts;
      if (is.centred()) {
        allowed += (arithmetic == x.type() ? h.length * 0x1p-53 : 0x1p-46) * largest * factor;
      }
      double step =
          rounds ? 2 * Rounding.half(cast, v * 1.001) * Math.abs(g == null ? 1 : g[i]) : 0;
      if (is.gate().isAfter()) {
        step += rounds ? 2 * Rounding.half(cast, v * factor * 1.001) : 0;
        step *= Math.abs(factors[i]);
        allowed *= Math.abs(factors[i]);
      }
      allowed += Float.MIN_VALUE * (1 + factor);
      see(y[i], expected[i], allowed, step, narrower, what + ", " + is + ", element " + i);
    }
  }

  private static double[] product(double[] a, double[] b) {
    double[] product = a.clone();
    Arrays.setAll(product, i -> a[i] * b[i]);
    return product;
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

  /**
   * Three, five for LayerNorm; two for an offset, one for a bias, one of the formula's cast. A gate
   * has {@link #OF_GATE}. In the input of a norm each element has its own, and the root has those
   * of all.
   */
  private static double roundings(Variant is, boolean bias, ElementType in, int width) {
    int ofGate = is.gate() == Gate.NONE ? 0 : is.gate().isAfter() ? OF_GATE : 2 * OF_GATE;
    if (in == ElementType.FLOAT64) {
      // The formula's own sum is one of width roundings.
      return (20 + width + 2 * ofGate) * 0x1p-53;
    }
    int count = is.centred() ? 5 : 3;
    count += is.gainOffset() == 0 ? 0 : 2;
    count += bias ? 1 : 0;
    count += is.order() == CastOrder.FLOAT32 ? 0 : 1;
    return (count + ofGate + 0.01) * 0x1p-24;
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
