package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * A backward call: what a kernel is given for it, and what plain Java makes of that. Of the rows
 * that go in, one is zeros and one has a root below epsilon, on which epsilon's place tells. One
 * has a gradient that is NaN.
 */
final class BackwardExample {
  private static final double EPSILON = 1e-5;
  private static final int ZEROS = 1;
  private static final int TINY = 2;
  private static final int NAN = 5;

  private final BackwardKind kind;
  private final int rows;
  private final int width;
  private final Norm norm;

  /** What goes in, but for what was kept. */
  private final Map<Tensor, byte[]> operands = new TreeMap<>();

  private final Map<Tensor, byte[]> parameters;
  private final byte[] x;

  BackwardExample(BackwardKind kind, int rows, int width, DrawnElements drawn) {
    this.kind = kind;
    this.rows = rows;
    this.width = width;
    parameters = DrawnElements.ofType(drawn.parameters(width), kind.x());
    x = drawn.of(inputType(), rows * width);
    int row = width * inputType().bytes();
    Arrays.fill(x, ZEROS * row, (ZEROS + 1) * row, (byte) 0);
    operands.put(Backward.DY, drawn.of(kind.dy(), rows * width));
    if (rows > NAN) {
      System.arraycopy(drawn.tiny(inputType(), width), 0, x, TINY * row, row);
      DrawnElements.set(operands.get(Backward.DY), kind.dy(), NAN * width + width / 2, Float.NaN);
    }
    if (kind.residual() != null) {
      operands.put(Forward.RESIDUAL, drawn.of(kind.residual(), rows * width));
    }
    operands.put(Backward.DX, new byte[rows * width * kind.dx().bytes()]);
    norm =
        kind.centred()
            ? configured(LayerNorm.builder(width)).build()
            : configured(RmsNorm.builder(width)).build();
  }

  /** Where the input is kept the output may be of any type, and the other way round. */
  private ElementType inputType() {
    return kind.fromOutput() ? kind.columnType() : kind.x();
  }

  private <B extends NormBuilder<B>> B configured(B builder) {
    if (kind.gain()) {
      builder.gain(Given.numbers(parameters.get(Forward.GAIN), kind.columnType()));
    }
    if (kind.bias()) {
      builder.bias(Given.numbers(parameters.get(Forward.BIAS), kind.columnType()));
    }
    return builder.epsilon(EPSILON).epsilonPlacement(kind.placement()).backend(Backend.scalar());
  }

  /** Makes the kept input of a row NaN. */
  void setNan(int row) {
    DrawnElements.set(x, kind.x(), row * width, Float.NaN);
  }

  /** What a kernel is given, in arrays of its own. */
  Given given() {
    return given(new Saved(kind.keep(), rows), rows);
  }

  /** The same after a forward call of the first n rows. */
  private Given given(Saved saved, int n) {
    Given given = new Given(rows, width, EPSILON);
    ElementType type = kind.fromOutput() ? kind.x() : kind.columnType();
    byte[] y = new byte[rows * width * type.bytes()];
    byte[] input = x.clone();
    norm.apply(rows(input, inputType(), n), rows(y, type, n), saved);
    given.operands().put(Forward.X, kind.fromOutput() ? y : input);
    operands.forEach((operand, bytes) -> given.operands().put(operand, bytes.clone()));
    given.operands().put(Backward.DX, given.operands().get(kind.over()));
    if (kind.keep() != Keep.NOTHING) {
      given.numbers().put(Forward.RSTD, saved.rstd());
      if (kind.centred()) {
        double[] mean = saved.mean() == null ? new double[rows] : saved.mean();
        given.numbers().put(Forward.MEAN, mean);
      }
    }
    if (kind.gain()) {
      given.columns().put(Forward.GAIN, parameters.get(Forward.GAIN).clone());
    }
    if (kind.takesBias()) {
      given.columns().put(Forward.BIAS, parameters.get(Forward.BIAS).clone());
    }
    if (kind.gainGradient()) {
      given.columns().put(Backward.GAIN_GRADIENT, new byte[width * kind.columnType().bytes()]);
    }
    if (kind.biasGradient()) {
      given.columns().put(Backward.BIAS_GRADIENT, new byte[width * kind.columnType().bytes()]);
    }
    return given;
  }

  private Rows rows(byte[] bytes, ElementType type, int n) {
    return Rows.of(MemorySegment.ofArray(bytes), type, n, width);
  }

  /** The same after a backward call of the first n rows in plain Java. */
  Given expected(int n) {
    Saved saved = new Saved(kind.keep(), rows);
    Given given = given(saved, n);
    Rows dy = rows(given.operands().get(Backward.DY), kind.dy(), n);
    Rows dx = rows(given.operands().get(Backward.DX), kind.dx(), n);
    double[] gain = kind.gainGradient() ? new double[width] : null;
    double[] bias = kind.biasGradient() ? new double[width] : null;
    ParameterGradients gradients = ParameterGradients.assigned(gain, bias);
    if (kind.residual() == null) {
      norm.backward(dy, saved, dx, gradients);
    } else {
      Rows residual = rows(given.operands().get(Forward.RESIDUAL), kind.residual(), n);
      norm.backward(dy, saved, residual, dx, gradients);
    }
    if (gain != null) {
      given.columns().put(Backward.GAIN_GRADIENT, Given.bytes(gain, kind.columnType()));
    }
    if (bias != null) {
      given.columns().put(Backward.BIAS_GRADIENT, Given.bytes(bias, kind.columnType()));
    }
    return given;
  }
}
