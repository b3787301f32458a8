package io.github.rmsnorm4j.internal.formula;

import static io.github.rmsnorm4j.internal.formula.Value.row;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * RMSNorm and LayerNorm, as docs/numerics.md defines them. Only this class has their formulas.
 *
 * @param onTheWay whether x + residual is stored while the statistic is summed; then a row can be
 *     summed only once
 */
public record Forward(Storage storage, ForwardFormula formula, boolean onTheWay) {
  /** LayerNorm rows longer than this take two passes: the mean, then the centred squares. */
  public static final int ONE_PASS = 1 << 20;

  /** For the statistic of rows that were kept, which are not written, so no root divides. */
  public static Forward ofKept(Storage storage, NormSpec spec) {
    NormSpec times = spec.withCastOrder(CastOrder.FLOAT32);
    Map<Tensor, ElementType> kept =
        spec.gate() == Gate.SILU_BEFORE
            ? Map.of(X, storage.type(X), Z, storage.type(Z))
            : Map.of(X, storage.type(X));
    Storage alone = new Storage(storage.float64(), storage.narrow(), kept);
    return new Forward(alone, new ForwardFormula(times, null, false, false), false);
  }

  /**
   * The forward pass of rows of a width. The sum with a residual is stored on the way if the row is
   * summed once and as a whole, and its output comes from the stored sum.
   */
  static Forward of(Storage storage, ForwardFormula formula, int width, int part, boolean inPlace) {
    boolean once = part == width && width <= SumOrder.SUPER_BLOCK;
    boolean fromStored =
        storage.has(RESIDUAL)
            && (storage.type(RESIDUAL).bytes() > Short.BYTES
                || formula.spec().residualRounding() != ResidualRounding.LAST);
    return new Forward(storage, formula, inPlace && once && fromStored);
  }

  /** The input. In a backward pass the rows that were kept, input or output. */
  public static final Tensor X = Tensor.ofElements("x", 0);

  /** The residual. In a backward pass the gradient that is added to dx. */
  public static final Tensor RESIDUAL = Tensor.ofElements("residual", 1);

  public static final Tensor Y = Tensor.ofElements("y", 2);

  /** The gate. */
  public static final Tensor Z = Tensor.ofElements("z", 5);

  public static final Tensor GAIN = Tensor.ofColumns("gain", 0);
  public static final Tensor BIAS = Tensor.ofColumns("bias", 1);

  /** A gain of which each row has a part of its own, where rows are groups of wider rows. */
  public static final Tensor GAIN_OF_GROUPS = Tensor.ofElements("gain", 8);

  /** A bias of which each row has a part of its own. */
  public static final Tensor BIAS_OF_GROUPS = Tensor.ofElements("bias", 9);

  /** x times the gate before the norm, where a back end keeps it from stage to stage. */
  public static final Tensor GATED = Tensor.ofElements("u", 3);

  /** The first element of the row, which LayerNorm subtracts from each element before it sums. */
  public static final Tensor SHIFT = Tensor.ofRows("x0", 0);

  /** Row sum of x - x0. */
  public static final Tensor SUM = Tensor.ofRows("S1", 1);

  /** Row sum of the squares. */
  public static final Tensor SQUARES = Tensor.ofRows("S2", 2);

  public static final Tensor MEAN = Tensor.ofRows("mean", 3);

  /** The length of the row, of an L2 norm. It is kept where others keep the mean. */
  public static final Tensor LENGTH = Tensor.ofRows("length", MEAN.place());

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
  private static final Value INFINITY = Value.literal(Double.POSITIVE_INFINITY);

  /** From here on, subtracting the mean from an element could overflow float32. */
  private static final double MAX_MEAN = 0x1p103;

  /** Sums of float64 squares below this have lost digits. A large epsilon makes that irrelevant. */
  public static final double TINY_SUM = 0x1p-900;

  private static final double TINY_EPSILON = 0x1p-840;

  /** {@link #TINY_EPSILON} of an epsilon outside the root, or as a floor. */
  private static final double TINY_OUTSIDE = 0x1p-380;

  private NormSpec spec() {
    return formula.spec();
  }

  /** Whether elements are divided by the root, and not multiplied by rstd. */
  private boolean divides() {
    return switch (spec().castOrder()) {
      case ONNX, DIVIDED, NONE_DIVIDED -> true;
      default -> false;
    };
  }

  /** Whether every step is rounded to the 16-bit type of the row. */
  private boolean isInRowType() {
    CastOrder order = spec().castOrder();
    boolean everyStep = order == CastOrder.NONE || order == CastOrder.NONE_DIVIDED;
    return everyStep && formula.cast() != null;
  }

  /** A number of the row, rounded to the type of the row if every step is. */
  private Value inRowType(Value number) {
    return isInRowType() ? number.rounded().cast(formula.cast()).widened() : number;
  }

  Value column(Tensor column) {
    return Value.column(column, storage.float64());
  }

  /** x, x + residual, or x times the gate before the norm. */
  private Value sum() {
    Value v = storage.element(X);
    if (spec().gate() == Gate.SILU_BEFORE) {
      return storage.has(GATED) ? storage.element(GATED) : v.times(activation());
    }
    return !storage.has(RESIDUAL) ? v : v.plus(storage.element(RESIDUAL));
  }

  /** The sum as it is stored; without a residual the element itself. */
  private Value roundedSum() {
    return storage.has(RESIDUAL) ? sum().cast(storage.type(RESIDUAL)) : sum();
  }

  private Value activation() {
    return Activation.of(spec().gate(), storage.element(Z));
  }

  /** The element from which the statistic is computed. */
  private Value summed() {
    return spec().residualRounding() == ResidualRounding.FIRST ? roundedSum() : sum();
  }

  /** The element from which the output is computed. */
  private Value normalised() {
    if (onTheWay) {
      return storage.element(RESIDUAL);
    }
    return spec().residualRounding() == ResidualRounding.LAST ? sum() : roundedSum();
  }

  /** The steps of rows of a width. */
  Program program(int width) {
    List<Program.Step> steps = statisticSteps(width);
    steps.add(new Program.Step(output(), Program.Extent.ROW));
    return storage.float64()
        ? new Program(steps, null, rescaling(List.of(scaledOutput(true), scaledOutput(false))))
        : new Program(steps, List.of(new Program.Step(wideOutput(), Program.Extent.ROW)), null);
  }

  /** The row sums of the elements themselves, which may be a part of a wider row. */
  Program sumsAlone() {
    Stage sums = spec().isCentred() ? sums(summed().widened()) : squares();
    return new Program(List.of(new Program.Step(sums, Program.Extent.PART)), List.of(), null);
  }

  /** The statistic of rows of a width. */
  Program statisticAlone(int width) {
    List<Program.Step> steps = statisticSteps(width);
    return storage.float64()
        ? new Program(steps, null, rescaling(null))
        : new Program(steps, List.of(), null);
  }

  /** The output of rows whose mean and rstd are given. */
  Program outputAlone() {
    List<Program.Step> steps = new ArrayList<>();
    Stage given = given();
    if (!given.statements().isEmpty()) {
      steps.add(Program.Step.ofNumbers(given));
    }
    steps.add(new Program.Step(output(), Program.Extent.ROW));
    return new Program(steps, List.of(new Program.Step(wideOutput(), Program.Extent.ROW)), null);
  }

  /** From elements to root and rstd. Rows longer than a super-block are summed in pieces. */
  List<Program.Step> statisticSteps(int width) {
    List<Program.Step> steps = new ArrayList<>();
    if (storage.has(GATED)) {
      steps.add(new Program.Step(gated(), Program.Extent.ROW));
    }
    boolean isLong = width > SumOrder.SUPER_BLOCK;
    if (isLong && spec().isCentred()) {
      steps.add(new Program.Step(shift(), Program.Extent.FIRST));
    }
    steps.add(new Program.Step(isLong ? pieceStatistic() : statistic(), Program.Extent.PART));
    boolean twice = spec().isCentred() && width > ONE_PASS;
    if (twice) {
      steps.add(Program.Step.ofNumbers(new Stage.Builder().keep(MEAN, mean().plus(ZERO)).build()));
      steps.add(new Program.Step(moments(row(MEAN)), Program.Extent.PART));
    }
    steps.add(Program.Step.ofNumbers(twice ? rootsOfCentred() : roots()));
    return steps;
  }

  /**
   * The statistic of a float64 row that is out of range.
   *
   * @param output for the small scale and for the great one; null in a backward pass
   */
  Program.Rescaling rescaling(@Nullable List<Stage> output) {
    List<Stage> statistic = List.of(scaledStatistic(true), scaledStatistic(false));
    return new Program.Rescaling(spec().isCentred() ? shift() : null, statistic, roots(), output);
  }

  /** {@code x0}, which LayerNorm subtracts from each element before it sums; of a stored row. */
  public Stage shift() {
    Value v = onTheWay ? normalised() : summed();
    return new Stage.Builder().keep(SHIFT, v.first().widened()).build();
  }

  /** {@code u = x * silu(z)}, of a gate before the norm. */
  public Stage gated() {
    Stage.Builder stage = new Stage.Builder();
    storage.store(stage, GATED, storage.element(X).times(activation()));
    return stage.build();
  }

  /** {@code S2 = rowsum(x * x)}; LayerNorm {@code S1 = rowsum(d), S2 = rowsum(d * d)}. */
  public Stage statistic() {
    Stage.Builder stage = new Stage.Builder();
    if (spec().isCentred()) {
      stage.keep(SHIFT, summed().first().widened());
    }
    if (onTheWay) {
      storage.store(stage, RESIDUAL, sum());
    }
    return stage.add(pieceStatistic()).build();
  }

  /** The statistic of a piece of a long row, whose x0 is known. */
  public Stage pieceStatistic() {
    return spec().isCentred() ? moments(row(SHIFT)) : squares();
  }

  private Stage squares() {
    Value v = summed();
    return isInRowType()
        ? new Stage.Builder().sum(SQUARES, v.times(v).cast(formula.cast()).widened()).build()
        : squares(v.widened());
  }

  private Stage moments(Value shift) {
    return sums(summed().widened().minus(shift));
  }

  private static Stage squares(Value v) {
    return new Stage.Builder().sum(SQUARES, v.times(v)).build();
  }

  private static Stage sums(Value d) {
    return new Stage.Builder().sum(SUM, d).sum(SQUARES, d.times(d)).build();
  }

  /**
   * The statistic of a float64 row with its elements times s. LayerNorm sums {@code (x - x0) * s},
   * less a mean that is already known.
   *
   * @param down whether s is small: then x and x0 are scaled separately
   */
  public Stage scaledStatistic(boolean down) {
    return spec().isCentred() ? sums(scaled(down).minus(row(SCALED_MEAN))) : squares(scaled(down));
  }

  private Value scaled(boolean down) {
    Value scale = Value.call(SCALE);
    if (!spec().isCentred()) {
      return normalised().times(scale);
    }
    return down
        ? normalised().times(scale).minus(row(SHIFT).times(scale))
        : normalised().minus(row(SHIFT)).times(scale);
  }

  /** From row sums to mean, root and rstd, in float64; and the range. */
  public Stage roots() {
    Stage.Builder stage = new Stage.Builder();
    Value m = spec().isOfLength() ? row(SQUARES) : inRowType(row(SQUARES).over(COUNT));
    if (spec().isCentred()) {
      stage.keep(MEAN, mean());
      m = row(SQUARES).minus(row(SUM).times(row(SUM)).over(COUNT)).over(COUNT).max(ZERO);
    } else if (spec().isOfLength()) {
      stage.keep(LENGTH, m.root());
    }
    roots(stage, m, mean());
    if (storage.float64() && spec().isCentred()) {
      stage.add(new Stage.Range(row(SUM).times(row(SUM)), 0, Double.MAX_VALUE));
    }
    return stage.build();
  }

  /** From the mean and the squares of what is centred by it. */
  private Stage rootsOfCentred() {
    Stage.Builder stage = new Stage.Builder();
    roots(stage, row(SQUARES).over(COUNT).max(ZERO), row(MEAN));
    return stage.build();
  }

  private Value mean() {
    return row(SHIFT).plus(row(SUM).over(COUNT));
  }

  private void roots(Stage.Builder stage, Value m, Value mean) {
    Value root = root(m);
    Value rstd = divides() ? rstd(root) : inRowType(rstd(root));
    stage.keep(ROOT, root).keep(RSTD, rstd);
    if (storage.float64()) {
      stage.add(squaresRange());
    } else {
      range(stage, root, rstd, mean);
    }
  }

  /** The reciprocal of the root. With a floor of 0 that of a row of zeros is 0. */
  private Value rstd(Value root) {
    Value rstd = ONE.over(root);
    return spec().leavesZeros() ? rstd.atLeast(INFINITY, ZERO, rstd) : rstd;
  }

  /** The root that divides, from an rstd that is given; and the range of what is given. */
  Stage given() {
    Stage.Builder stage = new Stage.Builder();
    Value root = inRowType(ONE.over(row(RSTD)));
    if (divides()) {
      stage.keep(ROOT, root);
    }
    if (!storage.float64()) {
      range(stage, root, row(RSTD), row(MEAN));
    }
    return stage.build();
  }

  /** A float64 row is in range if its sums are finite, and its sum of squares has all digits. */
  private Stage.Range squaresRange() {
    boolean inside = spec().epsilonPlacement() == EpsilonPlacement.INSIDE;
    boolean tiny = spec().epsilon(storage.type(X)) < (inside ? TINY_EPSILON : TINY_OUTSIDE);
    return new Stage.Range(row(SQUARES), tiny ? TINY_SUM : 0, Double.MAX_VALUE);
  }

  /**
   * A float32 row is in range if its rstd, and a root that divides, are normal float32 numbers, and
   * its mean is not too large.
   */
  private void range(Stage.Builder stage, Value root, Value rstd, Value mean) {
    stage.add(normalFloat32(rstd));
    if (divides()) {
      stage.add(normalFloat32(root));
    }
    if (spec().isCentred()) {
      double below = Math.nextDown(MAX_MEAN);
      stage.add(new Stage.Range(mean.rounded().widened(), -below, below));
    }
  }

  private Value root(Value m) {
    Value eps = inRowType(EPS);
    return switch (spec().epsilonPlacement()) {
      case INSIDE -> {
        Value root = inRowType(m.plus(eps)).root();
        // The reciprocal of a root is one operation, so the root itself is rounded only to divide.
        yield divides() ? inRowType(root) : root;
      }
      case OUTSIDE -> inRowType(inRowType(m.root()).plus(eps));
      // Rounding keeps the order of two numbers, so epsilon is rounded with the result.
      case FLOOR -> inRowType(inRowType(m.root()).max(EPS));
    };
  }

  private static Stage.Range normalFloat32(Value value) {
    return new Stage.Range(value.rounded().widened(), Float.MIN_NORMAL, Float.MAX_VALUE);
  }

  /** {@code y = round(x * rstd) * g + b}, each operation rounded to the compute type. */
  public Stage output() {
    Value by = row(divides() ? ROOT : RSTD);
    return output(centre(normalised(), storage.float64()), storage.float64() ? by : by.rounded());
  }

  /**
   * The output of a row whose rstd, root or mean is out of the range of float32: the same formula
   * in float64, rounded once.
   */
  public Stage wideOutput() {
    return output(centre(normalised().widened(), true), row(divides() ? ROOT : RSTD));
  }

  /** The output of a float64 row, from elements times s. */
  public Stage scaledOutput(boolean down) {
    Value v = spec().isCentred() ? scaled(down).minus(row(SCALED_MEAN)) : scaled(down);
    return output(v, row(divides() ? ROOT : RSTD));
  }

  /** LayerNorm's {@code x - mean}; in float32 the mean is subtracted in two pieces. */
  private Value centre(Value v, boolean float64) {
    return spec().isCentred() ? Mean.takenOff(v, float64) : v;
  }

  /**
   * Root or rstd, gain, bias and the stores; an absent gain or bias is no operation.
   *
   * @param by what elements are divided by, or multiplied by
   */
  private Stage output(Value v, Value by) {
    v = normalised(v, by);
    v = formula.bias() ? v.plus(parameter(BIAS, v)) : v;
    v = spec().gate().isAfter() ? gated(v) : v;
    Stage.Builder stage = new Stage.Builder();
    if (storage.has(RESIDUAL) && !onTheWay) {
      storage.store(stage, RESIDUAL, sum());
    }
    storage.store(stage, Y, v);
    return stage.build();
  }

  /** An element with its rstd and gain, in the cast order. */
  private Value normalised(Value v, Value by) {
    if (formula.gain() && spec().castOrder() == CastOrder.GAIN_FIRST) {
      return v.times(by.times(parameter(GAIN, v)));
    }
    Value factor = spec().castOrder() == CastOrder.ROUNDED_ROOT ? by.cast(formula.cast()) : by;
    v = divides() ? v.over(factor) : v.times(factor);
    v = formula.gain() || !isStoredNext() ? v.cast(formula.cast()) : v;
    v = formula.gain() ? v.times(parameter(GAIN, v)) : v;
    return isInRowType() && !isStoredNext() ? v.cast(formula.cast()) : v;
  }

  /** Whether the product with the gain is stored in the type of the cast, which rounds it. */
  private boolean isStoredNext() {
    return !formula.bias() && !spec().gate().isAfter() && storage.type(Y) == formula.cast();
  }

  /** A cast order rounds the product with the gain, too, before the gate. */
  private Value gated(Value v) {
    Value rounded = formula.gain() && !storage.float64() ? v.cast(formula.cast()) : v;
    return rounded.times(v.float64() ? activation().widened() : activation());
  }

  private Value parameter(Tensor column, Value v) {
    Tensor ofGroups = column.equals(GAIN) ? GAIN_OF_GROUPS : BIAS_OF_GROUPS;
    Value p = storage.has(ofGroups) ? storage.element(ofGroups) : column(column);
    boolean isSum = column.equals(GAIN) && spec().gainOffset() != 0;
    p = isSum && isInRowType() ? p.cast(formula.cast()) : p;
    return v.float64() ? p.widened() : p;
  }
}
