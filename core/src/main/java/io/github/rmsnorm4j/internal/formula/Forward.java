package io.github.rmsnorm4j.internal.formula;

import static io.github.rmsnorm4j.internal.formula.Value.row;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;

/**
 * RMSNorm and LayerNorm, as docs/numerics.md defines them. Only this class has their formulas.
 *
 * @param spec the choices of the norm; the offset is in the gain, and epsilon and part come with
 *     the call
 * @param x the type of the rows
 * @param residual the type of the residual; null without one
 * @param onTheWay whether x + residual is stored while the statistic is summed; then a row can be
 *     summed only once
 * @param y the type of the output
 * @param cast the type that a normalised element is rounded to before the gain, or null
 */
public record Forward(
    Storage storage,
    NormSpec spec,
    ElementType x,
    ElementType residual,
    boolean onTheWay,
    ElementType y,
    ElementType cast,
    boolean gain,
    boolean bias) {

  /** For the statistic of rows that were kept, which are not written, so no root divides. */
  public static Forward ofKept(Storage storage, NormSpec spec, ElementType x) {
    NormSpec times = spec.withCastOrder(CastOrder.FLOAT32);
    return new Forward(storage, times, x, null, false, x, null, false, false);
  }

  /** The input. In a backward pass the rows that were kept, input or output. */
  public static final Tensor X = Tensor.ofElements("x", 0);

  /** The residual. In a backward pass the gradient that is added to dx. */
  public static final Tensor RESIDUAL = Tensor.ofElements("residual", 1);

  public static final Tensor Y = Tensor.ofElements("y", 2);

  public static final Tensor GAIN = Tensor.ofColumns("gain", 0);
  public static final Tensor BIAS = Tensor.ofColumns("bias", 1);

  /** The first element of the row, which LayerNorm subtracts from each element before it sums. */
  public static final Tensor SHIFT = Tensor.ofRows("x0", 0);

  /** Row sum of x - x0. */
  public static final Tensor SUM = Tensor.ofRows("S1", 1);

  /** Row sum of the squares. */
  public static final Tensor SQUARES = Tensor.ofRows("S2", 2);

  public static final Tensor MEAN = Tensor.ofRows("mean", 3);
  public static final Tensor ROOT = Tensor.ofRows("root", 4);
  public static final Tensor RSTD = Tensor.ofRows("rstd", 5);

  /** Mean of (x - x0) * s. */
  public static final Tensor SCALED_MEAN = Tensor.ofRows("M", 6);

  /** The number of elements of the statistic: the width, or the part of a partial norm. */
  public static final Tensor K = Tensor.ofCall("k", 0);

  public static final Tensor EPSILON = Tensor.ofCall("eps", 1);

  /** The power of two by which elements of a row out of the range of float64 are multiplied. */
  public static final Tensor SCALE = Tensor.ofCall("s", 2);

  static final Value EPS = Value.call(EPSILON);
  static final Value COUNT = Value.call(K);
  static final Value ONE = Value.literal(1.0);
  static final Value ZERO = Value.literal(0.0);

  /** From here on, subtracting the mean from an element could overflow float32. */
  private static final double MAX_MEAN = 0x1p103;

  /** Sums of float64 squares below this have lost digits. A large epsilon makes that irrelevant. */
  public static final double TINY_SUM = 0x1p-900;

  private static final double TINY_EPSILON = 0x1p-840;

  /** {@link #TINY_EPSILON} of an epsilon outside the root, or as a floor. */
  private static final double TINY_OUTSIDE = 0x1p-380;

  /** Whether elements are divided by the root, and not multiplied by rstd. */
  private boolean divides() {
    return spec.castOrder() == CastOrder.ONNX;
  }

  Value column(Tensor column) {
    return Value.column(column, storage.float64());
  }

  /** x, or x + residual. */
  private Value sum() {
    Value v = storage.element(X, x);
    return residual == null ? v : v.plus(storage.element(RESIDUAL, residual));
  }

  /** The element from which the statistic is computed. */
  private Value summed() {
    return spec.residualRounding() == ResidualRounding.FIRST ? sum().cast(residual) : sum();
  }

  /** The element from which the output is computed. */
  private Value normalised() {
    if (onTheWay) {
      return storage.element(RESIDUAL, residual);
    }
    return spec.residualRounding() == ResidualRounding.LAST ? sum() : sum().cast(residual);
  }

  /** {@code x0}, which LayerNorm subtracts from each element before it sums; of a stored row. */
  public Part shift() {
    Value v = onTheWay ? normalised() : summed();
    return new Part.Builder().keep(SHIFT, v.first().widened()).build();
  }

  /** {@code S2 = rowsum(x * x)}; LayerNorm {@code S1 = rowsum(d), S2 = rowsum(d * d)}. */
  public Part statistic() {
    Part.Builder part = new Part.Builder();
    if (spec.isCentred()) {
      part.keep(SHIFT, summed().first().widened());
    }
    if (onTheWay) {
      storage.store(part, RESIDUAL, residual, sum());
    }
    return part.add(pieceStatistic()).build();
  }

  /** The statistic of a piece of a long row, whose x0 is known. */
  public Part pieceStatistic() {
    return spec.isCentred() ? moments(row(SHIFT)) : squares();
  }

  private Part squares() {
    return squares(summed().widened());
  }

  private Part moments(Value shift) {
    return sums(summed().widened().minus(shift));
  }

  private static Part squares(Value v) {
    return new Part.Builder().sum(SQUARES, v.times(v)).build();
  }

  private static Part sums(Value d) {
    return new Part.Builder().sum(SUM, d).sum(SQUARES, d.times(d)).build();
  }

  /**
   * The statistic of a float64 row with its elements times s. LayerNorm sums {@code (x - x0) * s},
   * less a mean that is already known.
   *
   * @param down whether s is small: then x and x0 are scaled separately
   */
  public Part scaledStatistic(boolean down) {
    return spec.isCentred() ? sums(scaled(down).minus(row(SCALED_MEAN))) : squares(scaled(down));
  }

  private Value scaled(boolean down) {
    Value scale = Value.call(SCALE);
    if (!spec.isCentred()) {
      return normalised().times(scale);
    }
    return down
        ? normalised().times(scale).minus(row(SHIFT).times(scale))
        : normalised().minus(row(SHIFT)).times(scale);
  }

  /** From row sums to mean, root and rstd, in float64; and the range. */
  public Part roots() {
    Part.Builder part = new Part.Builder();
    Value m = row(SQUARES).over(COUNT);
    Value mean = row(SHIFT).plus(row(SUM).over(COUNT));
    if (spec.isCentred()) {
      part.keep(MEAN, mean);
      m = row(SQUARES).minus(row(SUM).times(row(SUM)).over(COUNT)).over(COUNT).max(ZERO);
    }
    Value root = root(m);
    Value rstd = ONE.over(root);
    part.keep(ROOT, root).keep(RSTD, rstd);
    if (storage.float64()) {
      sumsRange(part);
    } else {
      range(part, root, rstd, mean);
    }
    return part.build();
  }

  /** The range of row sums and a statistic that are known. */
  public Part range() {
    Part.Builder part = new Part.Builder();
    if (storage.float64()) {
      sumsRange(part);
    }
    return part.add(keptRange()).build();
  }

  /** The range of a statistic that was kept. That of float64 rows is one of row sums. */
  public Part keptRange() {
    Part.Builder part = new Part.Builder();
    if (!storage.float64()) {
      range(part, row(ROOT), row(RSTD), row(MEAN));
    }
    return part.build();
  }

  /** A float64 row is in range if its sums are finite, and its sum of squares has all digits. */
  private void sumsRange(Part.Builder part) {
    boolean inside = spec.epsilonPlacement() == EpsilonPlacement.INSIDE;
    boolean tiny = spec.epsilon(x) < (inside ? TINY_EPSILON : TINY_OUTSIDE);
    part.add(new Part.Range(row(SQUARES), tiny ? TINY_SUM : 0, Double.MAX_VALUE));
    if (spec.isCentred()) {
      part.add(new Part.Range(row(SUM).times(row(SUM)), 0, Double.MAX_VALUE));
    }
  }

  /**
   * A float32 row is in range if its rstd, and a root that divides, are normal float32 numbers, and
   * its mean is not too large.
   */
  private void range(Part.Builder part, Value root, Value rstd, Value mean) {
    part.add(normalFloat32(rstd));
    if (divides()) {
      part.add(normalFloat32(root));
    }
    if (spec.isCentred()) {
      double below = Math.nextDown(MAX_MEAN);
      part.add(new Part.Range(mean.rounded().widened(), -below, below));
    }
  }

  private Value root(Value m) {
    return switch (spec.epsilonPlacement()) {
      case INSIDE -> m.plus(EPS).root();
      case OUTSIDE -> m.root().plus(EPS);
      case FLOOR -> m.root().max(EPS);
    };
  }

  private static Part.Range normalFloat32(Value value) {
    return new Part.Range(value.rounded().widened(), Float.MIN_NORMAL, Float.MAX_VALUE);
  }

  /** {@code y = round(x * rstd) * g + b}, each operation rounded to the compute type. */
  public Part output() {
    Value v = centre(normalised(), storage.float64());
    boolean float64 = storage.float64();
    Value by = row(divides() ? ROOT : RSTD);
    by = float64 ? by : by.rounded();
    return output(divides() ? v.over(by) : v.times(by));
  }

  /**
   * The output of a row whose rstd, root or mean is out of the range of float32: the same formula
   * in float64, rounded once.
   */
  public Part wideOutput() {
    Value v = centre(normalised().widened(), true);
    return output(divides() ? v.over(row(ROOT)) : v.times(row(RSTD)));
  }

  /** The output of a float64 row, from elements times s. */
  public Part scaledOutput(boolean down) {
    Value v = spec.isCentred() ? scaled(down).minus(row(SCALED_MEAN)) : scaled(down);
    return output(divides() ? v.over(row(ROOT)) : v.times(row(RSTD)));
  }

  /** LayerNorm's {@code x - mean}; in float32 the mean is subtracted in two pieces. */
  private Value centre(Value v, boolean float64) {
    return spec.isCentred() ? Mean.takenOff(v, float64) : v;
  }

  /** Gain, bias and the stores; an absent gain or bias is no operation. */
  private Part output(Value v) {
    v = storage.float64() ? v : v.cast(cast);
    v = gain ? v.times(parameter(GAIN, v)) : v;
    v = bias ? v.plus(parameter(BIAS, v)) : v;
    Part.Builder part = new Part.Builder();
    if (residual != null && !onTheWay) {
      storage.store(part, RESIDUAL, residual, sum());
    }
    storage.store(part, Y, y, v);
    return part.build();
  }

  private Value parameter(Tensor column, Value v) {
    return v.float64() ? column(column).widened() : column(column);
  }
}
