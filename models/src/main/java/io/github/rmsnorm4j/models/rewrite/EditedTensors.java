package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Computes edited tensors in float64, and rounds each number once to its stored type. */
final class EditedTensors {
  private final TensorFile model;
  private long computed;
  private long changed;
  private long small;
  private double largest;

  EditedTensors(TensorFile model) {
    this.model = model;
  }

  /** A step with the numbers that it needs. */
  private interface Element {
    double of(double value, int row, int column);
  }

  /**
   * Writes all elements of a tensor of the result.
   *
   * @throws RefusedException if a number is not finite, or too large for the type
   */
  void write(Tensor result, Edit edit, TensorWriter into) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      StoredMatrix matrix = new StoredMatrix(model, edit.source(), arena);
      List<Element> steps = new ArrayList<>();
      for (Edit.Step step : edit.steps()) {
        steps.add(element(step, matrix, arena));
      }
      ElementType type = result.dtype().elementType().orElseThrow();
      MemorySegment rounded = arena.allocate(result.bytes(), Double.BYTES);
      long element = 0;
      for (int row = 0; row < matrix.rows; row++) {
        for (int column = 0; column < matrix.columns; column++, element++) {
          double value = matrix.get(row, column);
          for (Element step : steps) {
            value = step.of(value, row, column);
          }
          type.set(rounded, element, rounded(value, type, result, element));
        }
      }
      into.write(rounded);
    }
    // That a gain becomes 1 is not computed.
    boolean constant = edit.steps().stream().anyMatch(Edit.Fill.class::isInstance);
    computed += constant ? 0 : result.elements();
  }

  private Element element(Edit.Step step, StoredMatrix source, Arena arena) throws IOException {
    return switch (step) {
      case Edit.Scale scale -> (value, _, _) -> value * scale.factor();
      case Edit.Fill fill -> (_, _, _) -> fill.value();
      case Edit.ScaleInputs scale -> {
        int inputs = scale.inputsFirst() ? source.rows : source.columns;
        double[] gain = StoredMatrix.vector(model, Optional.of(scale.gain()), 1, inputs);
        Arrays.setAll(gain, i -> gain[i] + scale.offset());
        yield scale.inputsFirst()
            ? (value, row, _) -> value * gain[row]
            : (value, _, column) -> value * gain[column];
      }
      case Edit.AddProduct product -> {
        double[] added = product(product, arena);
        if (source.rows != 1 || source.columns != added.length) {
          throw new FormatException(
              model.path(),
              source.tensor.name(),
              "is %s, its matrix has %s outputs".formatted(source.tensor, added.length));
        }
        yield (value, _, column) -> value + added[column];
      }
      case Edit.Center center -> {
        double[] means = source.means(center.rows());
        yield (value, row, column) -> value - means[center.rows() ? row : column];
      }
    };
  }

  /** W beta. */
  private double[] product(Edit.AddProduct step, Arena arena) throws IOException {
    StoredMatrix w = new StoredMatrix(model, step.matrix().weight(), arena);
    boolean inputsFirst = step.matrix().inputsFirst();
    double[] product = new double[inputsFirst ? w.columns : w.rows];
    int inputs = inputsFirst ? w.rows : w.columns;
    double[] beta = StoredMatrix.vector(model, Optional.of(step.beta()), 0, inputs);
    w.addProduct(beta, inputsFirst, product, new double[product.length]);
    return product;
  }

  private double rounded(double exact, ElementType type, Tensor result, long element)
      throws RefusedException {
    double rounded = type.round(exact);
    if (!Double.isFinite(rounded)) {
      throw new RefusedException(
          "%s: element %s becomes %s, it must be a finite number of %s"
              .formatted(result.label(), element, exact, type));
    }
    if (rounded != exact) {
      changed++;
      if (Math.abs(rounded) < type.minNormal()) {
        small++;
      } else {
        largest = Math.max(largest, Math.abs((rounded - exact) / exact));
      }
    }
    return rounded;
  }

  /** What the roundings until now did. */
  RoundingCount count() {
    return new RoundingCount(computed, changed, small, largest);
  }
}
