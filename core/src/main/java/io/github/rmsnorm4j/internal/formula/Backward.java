package io.github.rmsnorm4j.internal.formula;

import static io.github.rmsnorm4j.internal.formula.Forward.EPSILON;
import static io.github.rmsnorm4j.internal.formula.Forward.K;
import static io.github.rmsnorm4j.internal.formula.Forward.ONE;
import static io.github.rmsnorm4j.internal.formula.Forward.ZERO;
import static io.github.rmsnorm4j.internal.formula.Forward.row;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;

/**
 * The gradients of RMSNorm and LayerNorm, as docs/numerics.md defines them: {@code dx = ((h - c) -
 * xh * m) * rstd}, where {@code h = dy * g} and xh is the normalised row.
 *
 * @param spec the choices of the norm
 * @param x the type of the rows that were kept
 * @param fromOutput whether these are the output
 * @param residual the type of the gradient that is added to dx; null without one
 * @param gain whether there is a gain
 * @param bias whether the output has a bias; used only with the output
 * @param wide whether rows are out of the range of float32: then everything is float64, and rounded
 *     once
 */
public record Backward(
    Storage storage,
    NormSpec spec,
    ElementType x,
    boolean fromOutput,
    ElementType dy,
    ElementType residual,
    ElementType dx,
    boolean gain,
    boolean bias,
    boolean gainGradient,
    boolean biasGradient,
    boolean wide) {

  /** A share below this comes from the rounding of rstd to float32; its term is as small. */
  private static final double ROUNDING = 0x1p-23;

  /** This pass for rows out of the range of float32. */
  public Backward ofWideRows() {
    return new Backward(
        storage,
        spec,
        x,
        fromOutput,
        dy,
        residual,
        dx,
        gain,
        bias,
        gainGradient,
        biasGradient,
        true);
  }

  private Value element(Operand rows, ElementType type) {
    Value v = storage.element(rows, type);
    return wide ? v.widened() : v;
  }

  private Value column(Column column) {
    Value v = new Value.OfColumn(column, storage.float64());
    return wide ? v.widened() : v;
  }

  /** A per-row scalar, in the compute type of the elements. */
  private Value number(RowNumber number) {
    return wide || storage.float64() ? row(number) : row(number).rounded();
  }

  /** dy. */
  private Value slope() {
    return element(Operand.DY, dy);
  }

  /** The kept element, less the bias if it is an output. */
  private Value kept() {
    Value v = element(Operand.X, x);
    return fromOutput && bias ? v.minus(column(Column.BIAS)) : v;
  }

  /** {@code xh}: {@code (x - mean) * rstd}, or from the output {@code (y - b) / g}. */
  private Value xh() {
    Value v = kept();
    if (fromOutput) {
      return gain ? v.over(column(Column.GAIN)) : v;
    }
    v = spec.isCentred() ? Mean.takenOff(v, wide || storage.float64()) : v;
    return v.times(number(RowNumber.RSTD));
  }

  /** {@code h = dy * g}. */
  private Value h(Value dy) {
    return gain ? dy.times(column(Column.GAIN)) : dy;
  }

  /** {@code rowsum(h * xh)}, from the output {@code rowsum(dy * (y - b))}; {@code rowsum(h)}. */
  public Part sums() {
    Value dy = slope();
    Value h = h(dy);
    Value product = fromOutput && !wide ? dy.times(kept()) : h.times(xh());
    Part.Builder part = new Part.Builder().sum(RowNumber.PRODUCT, product.widened());
    return (spec.isCentred() ? part.sum(RowNumber.SLOPE, h.widened()) : part).build();
  }

  /**
   * From row sums to m and c. With {@code rstd = 1 / sqrt(mean(x^2) + eps)} the derivative is
   * {@code d rstd / dx = -rstd^3 * x / k}, so m is the mean of h * xh. Another placement of epsilon
   * adds a factor: {@code (q + eps) / q} outside the root q, and 0 on the floor.
   */
  public Part means() {
    Part.Builder part = new Part.Builder().keep(RowNumber.M, m(row(RowNumber.PRODUCT).over(K)));
    return (spec.isCentred() ? part.keep(RowNumber.C, row(RowNumber.SLOPE).over(K)) : part).build();
  }

  private Value m(Value mean) {
    Value rstd = number(RowNumber.RSTD).widened();
    return switch (spec.epsilonPlacement()) {
      case INSIDE -> mean;
      case OUTSIDE -> {
        Value share = ONE.minus(rstd.times(EPSILON)); // q / (q + eps)
        Value least = storage.float64() ? ZERO : new Value.Literal(ROUNDING);
        yield new Value.Choice(share, false, least, mean.over(share), ZERO);
      }
      case FLOOR -> new Value.Choice(rstd, true, highestRstd(), ZERO, mean);
    };
  }

  /** The rstd of a root that is epsilon. A row with this rstd is on the floor. */
  private Value highestRstd() {
    Value highest = ONE.over(EPSILON);
    Value rounded = highest.rounded().widened();
    boolean float64 = storage.float64();
    return float64 ? highest : new Value.Choice(highest, false, rounded, rounded, highest);
  }

  /** dx, and what a row adds to the gradients of gain and bias: {@code dy * xh} and {@code dy}. */
  public Part output() {
    Value dy = slope();
    Value xh = xh();
    Value h = spec.isCentred() ? h(dy).minus(number(RowNumber.C)) : h(dy);
    Value rstd = number(RowNumber.RSTD);
    Value d = h.minus(xh.times(number(RowNumber.M))).times(rstd);
    d = residual == null ? d : d.plus(element(Operand.RESIDUAL, residual));
    Part.Builder part = new Part.Builder();
    storage.store(part, Operand.DX, dx, d);
    if (gainGradient) {
      part.sum(Column.GAIN_GRADIENT, columnTerm(dy.times(xh)));
    }
    if (biasGradient) {
      part.sum(Column.BIAS_GRADIENT, columnTerm(dy));
    }
    return part.build();
  }

  private Value columnTerm(Value term) {
    return storage.float64() ? term : term.rounded();
  }
}
