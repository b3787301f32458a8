package io.github.rmsnorm4j.checkpoint.check;

import io.github.rmsnorm4j.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Rows of X and Y side by side, with what the norm had beside them. */
public final class Sample {
  /** Squares of larger or smaller rows may leave the range of float32. */
  private static final double RANGE = 0x1p60;

  private final int width;
  private final ElementType xType;
  private final ElementType yType;
  private final ElementType gainType;
  private final double[] gain;
  private final double[] bias;
  private final List<double[]> x = new ArrayList<>();
  private final List<double[]> y = new ArrayList<>();
  private final List<double[]> residual = new ArrayList<>();
  private int notFinite;
  private int zero;
  private int outOfRange;

  /**
   * Begins a sample without rows.
   *
   * @param width elements per row
   * @param xType the type in which X is stored
   * @param yType the type in which Y is stored
   * @param gain the gain as stored, or null
   * @param gainType its type, or null
   * @param bias the bias, or null
   * @throws IllegalArgumentException if the width is 1, or a parameter has another width or is not
   *     finite
   */
  public Sample(
      int width,
      ElementType xType,
      ElementType yType,
      double[] gain,
      ElementType gainType,
      double[] bias) {
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
  }

  private static double[] checked(String name, double[] values, int width) {
    if (values != null && values.length != width) {
      throw new IllegalArgumentException(
          "the %s has %d elements, it must have one for each of the %d of a row"
              .formatted(name, values.length, width));
    }
    if (values != null && !finite(values)) {
      throw new IllegalArgumentException("the " + name + " holds NaN or infinity");
    }
    return values;
  }

  /**
   * Adds a row, or counts it where it tells nothing: it is not finite, all of it is zero, or its
   * squares leave the range of float32.
   *
   * @param rowX the row
   * @param rowY its output
   * @param rowResidual what was added to it, or null
   */
  public void add(double[] rowX, double[] rowY, double[] rowResidual) {
    if (!finite(rowX) || !finite(rowY) || rowResidual != null && !finite(rowResidual)) {
      notFinite++;
      return;
    }
    double greatest = 0;
    for (int i = 0; i < width; i++) {
      double sum = rowX[i] + (rowResidual == null ? 0 : rowResidual[i]);
      greatest = Math.max(greatest, Math.abs(sum));
    }
    if (greatest == 0) {
      zero++;
    } else if (greatest > RANGE || greatest < 1 / RANGE) {
      outOfRange++;
    } else {
      x.add(rowX);
      y.add(rowY);
      if (rowResidual != null) {
        residual.add(rowResidual);
      }
    }
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
          "no row can be used: %d are not finite, %d are zero, %d are out of range"
              .formatted(notFinite, zero, outOfRange));
    }
    double first = y.getFirst()[0];
    if (y.stream().flatMapToDouble(Arrays::stream).allMatch(value -> value == first)) {
      throw new IllegalArgumentException("every element of Y is " + first + ", that tells nothing");
    }
  }

  /**
   * How many rows were added and can be used.
   *
   * @return the number of rows
   */
  public int rows() {
    return x.size();
  }

  /**
   * Elements per row.
   *
   * @return the width
   */
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

  double[] x(int row) {
    return x.get(row);
  }

  double[] y(int row) {
    return y.get(row);
  }

  double[] residual(int row) {
    return residual.isEmpty() ? null : residual.get(row);
  }

  double[] gain() {
    return gain;
  }

  double[] bias() {
    return bias;
  }

  /** The types of all numbers, and the narrower ones that hold them. */
  Types types() {
    List<ElementType> sums = new ArrayList<>();
    if (!residual.isEmpty()) {
      sums.addAll(Rounding.holding(residual));
      sums.add(ElementType.FLOAT32);
    }
    return new Types(
        xType, narrower(xType, x), yType, narrower(yType, y), gainType, bias != null, sums);
  }

  private static List<ElementType> narrower(ElementType stored, List<double[]> rows) {
    return stored.bytes() == 2 ? List.of() : Rounding.holding(rows);
  }
}
