package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

/** Computes edited tensors in float64, and rounds each number once to its stored type. */
final class EditedTensors {
  private final TensorFile model;
  private final Map<String, Edit> edits;
  private final LongConsumer progress;
  private long computed;
  private long changed;
  private long small;
  private double largest;

  EditedTensors(TensorFile model, Map<String, Edit> edits, LongConsumer progress) {
    this.model = model;
    this.edits = edits;
    this.progress = progress;
  }

  /**
   * Writes all tensors of one file of the result.
   *
   * @throws RefusedException if a number is not finite, or too large for the type
   */
  void write(TensorWriter into) throws IOException {
    for (Tensor tensor : into.order()) {
      try (Arena arena = Arena.ofConfined()) {
        Edit edit = edits.get(tensor.name());
        into.write(
            edit == null ? StoredMatrix.bytes(model, tensor, arena) : edited(tensor, edit, arena));
      }
      progress.accept(tensor.bytes());
    }
    into.commit();
  }

  private MemorySegment edited(Tensor result, Edit edit, Arena arena) throws IOException {
    StoredMatrix matrix = new StoredMatrix(model, edit.source(), arena);
    List<Edit.Element> steps = new ArrayList<>();
    for (Edit.Step step : edit.steps()) {
      steps.add(step.on(matrix, model));
    }
    ElementType type = result.dtype().elementType().orElseThrow();
    MemorySegment rounded = arena.allocate(result.bytes(), Double.BYTES);
    long element = 0;
    for (int row = 0; row < matrix.rows; row++) {
      for (int column = 0; column < matrix.columns; column++, element++) {
        double value = matrix.get(row, column);
        for (Edit.Element step : steps) {
          value = step.of(value, row, column);
        }
        type.set(rounded, element, rounded(value, type, result, element));
      }
    }
    // That a gain becomes 1 is not computed.
    boolean constant = edit.steps().stream().anyMatch(Edit.Fill.class::isInstance);
    computed += constant ? 0 : result.elements();
    return rounded;
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
