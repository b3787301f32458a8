package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Rows of X and Y side by side, with the parameters of the norm and its residual. */
public final class Sample {
  /** Squares of larger or smaller rows may leave the range of float32. */
  private static final double RANGE = 0x1p60;

  private final int width;
  private final ElementType xType;
  private final ElementType yType;
  private final ElementType gainType;
  final double[] gain;
  final double[] bias;
  private final ElementType residualType;
  private final List<double[]> x = new ArrayList<>();
  private final List<double[]> y = new ArrayList<>();
  private final List<double[]> residual = new ArrayList<>();
  private int notFinite;
  private int zero;
  private int outOfRange;
  private int contradicting;
  private boolean changed;

  /**
   * Begins a sample without rows.
   *
   * @param width elements per row
   * @param xType the type in which X is stored
   * @param yType the type in which Y is stored
   * @param gain the gain as stored, or null
   * @param gainType its type, or null
   * @param bias the bias, or null
   * @param residualType the type in which the residual is stored, or null without one
   * @throws IllegalArgumentException if the width is 1, or a parameter has another width or is not
   *     finite
   */
  public Sample(
      int width,
      ElementType xType,
      ElementType yType,
      double[] gain,
      ElementType gainType,
      double[] bias,
      ElementType residualType) {
    if (width < 2) {
      throw new IllegalArgumentException(
          "the width is " + width + ", it must be 2 or more: a row of one element tells nothing");
    }
    this.width = width;
    this.xType = xType;
    this.yType = yType;
    this.gain = checked("gain", gain, width);
    this.gainType = gainType;
    this.bias = checked("bias", bias, width);
    this.residualType = residualType;
  }

  private static double[] checked(String name, double[] values, int width) {
    if (values != null && values.length != width) {
      throw new IllegalArgumentException(
          "the %s has %s elements, it must have one for each of the %s of a row"
              .formatted(name, values.length, width));
    }
    if (values != null && !finite(values)) {
      throw new IllegalArgumentException("the " + name + " holds NaN or infinity");
    }
    return values;
  }

  /**
   * Adds a row, or counts it where it tells nothing: it is not finite, all of it is zero, or its
   * squares leave the range of float32. A row that no norm makes Y of is counted as contradicting.
   *
   * @param rowX the row
   * @param rowY its output
   * @param rowResidual what was added to it, or null
   */
  public void add(double[] rowX, double[] rowY, double[] rowResidual) {
    if (!finite(rowX) || rowResidual != null && !finite(rowResidual)) {
      notFinite++;
      return;
    }
    double greatest = 0;
    for (int i = 0; i < width; i++) {
      double sum = rowX[i] + (rowResidual == null ? 0 : rowResidual[i]);
      greatest = Math.max(greatest, Math.abs(sum));
    }
    if (greatest != 0 && (greatest > RANGE || greatest < 1 / RANGE)) {
      outOfRange++;
    } else if (!finite(rowY)) {
      countNotFinite(greatest, rowY);
    } else if (greatest == 0) {
      zero++;
      contradicting += isBias(rowY) ? 0 : 1;
    } else {
      x.add(rowX);
      y.add(rowY);
      if (rowResidual != null) {
        residual.add(rowResidual);
      }
      changed |= rowResidual != null || IntStream.range(0, width).anyMatch(i -> rowX[i] != rowY[i]);
    }
  }

  /** A norm makes NaN of a zero row without epsilon, and infinity where float16 overflows. */
  private void countNotFinite(double greatest, double[] rowY) {
    boolean overflows =
        yType == ElementType.FLOAT16 && Arrays.stream(rowY).noneMatch(Double::isNaN);
    notFinite++;
    contradicting += greatest == 0 || overflows ? 0 : 1;
  }

  /** What every norm makes of a zero row. */
  private boolean isBias(double[] rowY) {
    return IntStream.range(0, width)
        .allMatch(i -> rowY[i] == (bias == null ? 0 : yType.round(bias[i])));
  }

  private static boolean finite(double[] values) {
    return Arrays.stream(values).allMatch(Double::isFinite);
  }

  /**
   * Checks that the rows can tell anything.
   *
   * @throws IllegalArgumentException if they cannot
   */
  void requireRows() {
    if (x.isEmpty()) {
      throw new IllegalArgumentException(
          "no row can be used: %s are not finite, %s are zero, %s are out of range"
              .formatted(notFinite, zero, outOfRange));
    }
    double first = y.getFirst()[0];
    if (y.stream().flatMapToDouble(Arrays::stream).allMatch(value -> value == first)) {
      throw new IllegalArgumentException("every element of Y is " + first + ", that tells nothing");
    }
  }

  /** {@return how many rows were added and can be used} */
  public int rows() {
    return x.size();
  }

  /** {@return elements per row} */
  public int width() {
    return width;
  }

  int notFinite() {
    return notFinite;
  }

  int zero() {
    return zero;
  }

  int outOfRange() {
    return outOfRange;
  }

  /** Rows that were left out, and of which no norm makes this Y. */
  int contradicting() {
    return contradicting;
  }

  /** Whether every row of Y that is compared is that of X. */
  boolean unchanged() {
    return !x.isEmpty() && !changed;
  }

  double[] x(int row) {
    return x.get(row);
  }

  double[] y(int row) {
    return y.get(row);
  }

  double[] residual(int row) {
    return residual.isEmpty() ? null : residual.get(row);
  }

  /** The types of all numbers, and the narrower ones that hold them. */
  Types types() {
    return new Types(
        xType,
        narrower(xType, x),
        yType,
        narrower(yType, y),
        gainType,
        bias != null,
        residualType,
        residualType == null ? List.of() : narrower(residualType, residual));
  }

  private static List<ElementType> narrower(ElementType stored, List<double[]> rows) {
    return Stream.of(ElementType.BFLOAT16, ElementType.FLOAT16, ElementType.FLOAT32)
        .filter(type -> type.bytes() < stored.bytes())
        .filter(type -> rows.stream().allMatch(row -> holds(type, row)))
        .toList();
  }

  private static boolean holds(ElementType type, double[] row) {
    return Arrays.stream(row).allMatch(value -> type.round(value) == value);
  }
}
