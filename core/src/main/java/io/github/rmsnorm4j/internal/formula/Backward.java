package io.github.rmsnorm4j.internal.formula;

import static io.github.rmsnorm4j.internal.formula.Forward.COUNT;
import static io.github.rmsnorm4j.internal.formula.Forward.EPS;
import static io.github.rmsnorm4j.internal.formula.Forward.ONE;
import static io.github.rmsnorm4j.internal.formula.Forward.ZERO;
import static io.github.rmsnorm4j.internal.formula.Value.row;

import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import java.util.ArrayList;
import java.util.List;

/**
 * The gradients of RMSNorm and LayerNorm, as docs/numerics.md defines them: {@code dx = ((h - c) -
 * xh * m) * rstd}, where {@code h = dy * g} and xh is the normalised row.
 *
 * @param wide whether rows are out of the range of float32: then everything is float64, and rounded
 *     once
 */
public record Backward(Storage storage, BackwardFormula formula, boolean wide) {
  public static final Tensor DY = Tensor.ofElements("dy", 3);
  public static final Tensor DX = Tensor.ofElements("dx", 4);

  /** The gradient of the gate. */
  public static final Tensor DZ = Tensor.ofElements("dz", 6);

  public static final Tensor GAIN_GRADIENT = Tensor.ofColumns("dgain", 2);
  public static final Tensor BIAS_GRADIENT = Tensor.ofColumns("dbias", 3);

  /** The sums for a gain, where each of some rows has its own: groups of a row, or samples. */
  public static final Tensor GAIN_GRADIENT_OF_GROUPS = Tensor.ofElements("dgain", 10);

  /** Likewise for a bias. */
  public static final Tensor BIAS_GRADIENT_OF_GROUPS = Tensor.ofElements("dbias", 11);

  /** Row sum of h * xh. */
  public static final Tensor H_XH = Tensor.ofRows("P", 7);

  /** Row sum of h. */
  public static final Tensor H = Tensor.ofRows("H", 8);

  /** m, the mean of h * xh. */
  public static final Tensor M = Tensor.ofRows("m", 9);

  /** c, the mean of h; LayerNorm only. */
  public static final Tensor C = Tensor.ofRows("c", 10);

  /** A share below this comes from the rounding of rstd to float32; its term is as small. */
  private static final double ROUNDING = 0x1p-23;

  /** The steps of rows of a width. */
  Program program(int width, int part) {
    Forward forward = Forward.ofKept(storage, spec());
    List<Program.Step> steps = new ArrayList<>();
    if (!formula.keptStatistic()) {
      steps.addAll(forward.statisticSteps(width));
    } else if (!storage.float64()) {
      steps.add(Program.Step.ofNumbers(forward.given()));
    }
    steps.addAll(ofKnownStatistic(width, part));
    return storage.float64()
        ? new Program(steps, null, forward.rescaling(null))
        : new Program(
            steps, new Backward(storage, formula, true).ofKnownStatistic(width, part), null);
  }

  /** The steps of rows whose mean and rstd are known. */
  private List<Program.Step> ofKnownStatistic(int width, int part) {
    Program.Step sums = new Program.Step(sums(), Program.Extent.ROW);
    Program.Step means = Program.Step.ofNumbers(means());
    if (part == width) {
      return List.of(sums, means, new Program.Step(output(), Program.Extent.ROW));
    }
    // The statistic does not depend on the elements after its part.
    Stage zero = new Stage.Builder().keep(M, ZERO).build();
    return List.of(
        sums,
        means,
        new Program.Step(output(), Program.Extent.PART),
        Program.Step.ofNumbers(zero),
        new Program.Step(output(), Program.Extent.REST));
  }

  private NormSpec spec() {
    return formula.spec();
  }

  private Value element(Tensor rows) {
    Value v = storage.element(rows);
    return wide ? v.widened() : v;
  }

  private Value gain() {
    return parameter(Forward.GAIN, Forward.GAIN_OF_GROUPS);
  }

  private Value bias() {
    return parameter(Forward.BIAS, Forward.BIAS_OF_GROUPS);
  }

  private Value parameter(Tensor column, Tensor ofGroups) {
    if (storage.has(ofGroups)) {
      return element(ofGroups);
    }
    Value v = Value.column(column, storage.float64());
    return wide ? v.widened() : v;
  }

  /** A per-row scalar, in the compute type of the elements. */
  private Value number(Tensor number) {
    return wide || storage.float64() ? row(number) : row(number).rounded();
  }

  private Gate gate() {
    return spec().gate();
  }

  /** The gradient of the norm: dy, or dy times the activation of a gate after it. */
  private Value gradient() {
    return gate().isAfter() ? ofGate(activation()).times(element(DY)) : element(DY);
  }

  private Value activation() {
    return Activation.ofBackward(gate(), storage.element(Forward.Z));
  }

  /** A value of the gate, which rows out of the range of float32 have as float32, too. */
  private Value ofGate(Value v) {
    return wide ? v.widened() : v;
  }

  /** The kept element, less the bias if it is an output, or times the gate before the norm. */
  private Value kept() {
    if (gate() == Gate.SILU_BEFORE) {
      return ofGate(storage.element(Forward.X).times(activation()));
    }
    Value v = element(Forward.X);
    return formula.fromOutput() && formula.bias() ? v.minus(bias()) : v;
  }

  /** {@code xh}: {@code (x - mean) * rstd}, or from the output {@code (y - b) / g}. */
  private Value xh() {
    Value v = kept();
    if (formula.fromOutput()) {
      return formula.gain() ? v.over(gain()) : v;
    }
    v = spec().isCentred() ? Mean.takenOff(v, wide || storage.float64()) : v;
    return v.times(number(Forward.RSTD));
  }

  /** {@code h = dy * g}. */
  private Value h(Value dy) {
    return formula.gain() ? dy.times(gain()) : dy;
  }

  /** {@code rowsum(h * xh)}, from the output {@code rowsum(dy * (y - b))}; {@code rowsum(h)}. */
  public Stage sums() {
    Value dy = gradient();
    Value h = h(dy);
    Value product = formula.fromOutput() && !wide ? dy.times(kept()) : h.times(xh());
    Stage.Builder stage = new Stage.Builder().sum(H_XH, product.widened());
    return (spec().isCentred() ? stage.sum(H, h.widened()) : stage).build();
  }

  /**
   * From row sums to m and c. With {@code rstd = 1 / sqrt(mean(x^2) + eps)} the derivative is
   * {@code d rstd / dx = -rstd^3 * x / k}, so m is the mean of h * xh. Another placement of epsilon
   * adds a factor: {@code (q + eps) / q} outside the root q, and 0 on the floor. An L2 norm has the
   * sum of h * xh, because its root is that of a sum of squares.
   */
  public Stage means() {
    Value along = spec().isOfLength() ? row(H_XH) : row(H_XH).over(COUNT);
    Stage.Builder stage = new Stage.Builder().keep(M, m(along));
    return (spec().isCentred() ? stage.keep(C, row(H).over(COUNT)) : stage).build();
  }

  private Value m(Value mean) {
    Value rstd = number(Forward.RSTD).widened();
    return switch (spec().epsilonPlacement()) {
      case INSIDE -> mean;
      case OUTSIDE -> {
        Value share = ONE.minus(rstd.times(EPS)); // q / (q + eps)
        Value least = storage.float64() ? ZERO : Value.literal(ROUNDING);
        yield share.above(least, mean.over(share), ZERO);
      }
      case FLOOR -> rstd.atLeast(highestRstd(), ZERO, mean);
    };
  }

  /** The rstd of a root that is epsilon. A row with this rstd is on the floor. */
  private Value highestRstd() {
    Value highest = ONE.over(EPS);
    Value rounded = highest.rounded().widened();
    boolean float64 = storage.float64();
    return float64 ? highest : highest.above(rounded, rounded, highest);
  }

  /** dx, and what a row adds to the gradients of gain and bias: {@code dy * xh} and {@code dy}. */
  public Stage output() {
    Value dy = gradient();
    Value xh = xh();
    Value h = spec().isCentred() ? h(dy).minus(number(C)) : h(dy);
    Value rstd = number(Forward.RSTD);
    Value d = h.minus(xh.times(number(M))).times(rstd);
    d = !storage.has(Forward.RESIDUAL) ? d : d.plus(element(Forward.RESIDUAL));
    Stage.Builder stage = new Stage.Builder();
    storage.store(stage, DX, gate() == Gate.SILU_BEFORE ? d.times(ofGate(activation())) : d);
    if (gate() != Gate.NONE) {
      Value ofActivation =
          gate().isAfter() ? element(DY).times(norm(xh)) : d.times(element(Forward.X));
      Value derivative = Activation.derivative(gate(), storage.element(Forward.Z));
      storage.store(stage, DZ, ofActivation.times(ofGate(derivative)));
    }
    if (formula.gainGradient()) {
      add(stage, GAIN_GRADIENT, GAIN_GRADIENT_OF_GROUPS, dy.times(xh));
    }
    if (formula.biasGradient()) {
      add(stage, BIAS_GRADIENT, BIAS_GRADIENT_OF_GROUPS, dy);
    }
    return stage.build();
  }

  /** The output before the gate. */
  private Value norm(Value xh) {
    Value v = formula.gain() ? xh.times(gain()) : xh;
    return formula.bias() ? v.plus(bias()) : v;
  }

  private void add(Stage.Builder stage, Tensor column, Tensor ofGroups, Value v) {
    Value term = storage.float64() ? v : v.rounded();
    if (storage.has(ofGroups)) {
      storage.store(stage, ofGroups, storage.element(ofGroups).plus(term));
    } else {
      stage.sum(column, term);
    }
  }
}
