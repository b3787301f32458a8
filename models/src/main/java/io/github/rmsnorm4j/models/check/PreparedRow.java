package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.reference.AddedResidual;
import java.util.HashMap;
import java.util.Map;

/** A row as the norm sees it: rounded, and with its residual. Forms share it. */
final class PreparedRow {
  final double[] measured;
  final double[] normalised;
  private final Map<Integer, Double> meanSquares = new HashMap<>();
  private double[] moments;

  private PreparedRow(double[] measured, double[] normalised) {
    this.measured = measured;
    this.normalised = normalised;
  }

  static PreparedRow of(Form form, Types types, double[] x, double[] residual) {
    double[] row = new double[x.length];
    for (int i = 0; i < row.length; i++) {
      row[i] = form.input().round(x[i]);
    }
    if (residual == null) {
      return new PreparedRow(row, row);
    }
    ElementType rounded = types.residualRounded();
    ResidualRounding when = form.residual() == null ? ResidualRounding.LAST : form.residual();
    ElementType to = rounded == null ? form.arithmetic() : rounded;
    AddedResidual sum = AddedResidual.of(row, residual, form.arithmetic(), to, when);
    return new PreparedRow(sum.measured(), sum.normalised());
  }

  /** The mean square of the first k elements. */
  double meanSquare(int k) {
    return meanSquares.computeIfAbsent(k, part -> RowSums.meanSquare(measured, part));
  }

  double mean() {
    return moments()[0];
  }

  double variance() {
    return moments()[1];
  }

  private double[] moments() {
    if (moments == null) {
      moments = RowSums.moments(measured);
    }
    return moments;
  }
}
