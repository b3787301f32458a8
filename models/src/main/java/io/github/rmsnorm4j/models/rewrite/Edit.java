package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.Projection;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How one tensor of the result is made from a tensor of the model.
 *
 * @param source the tensor of the model; the same name, or the embedding for a head that was tied
 * @param steps what is done to its numbers, one after the other; none for a copy
 */
record Edit(String source, List<Step> steps) {
  /** What a step makes of a number, in float64. */
  interface Element {
    double of(double value, int row, int column);
  }

  sealed interface Step {
    /** The step with all that it needs for one tensor of a model. */
    Element on(StoredMatrix source, TensorFile model) throws IOException;
  }

  /**
   * {@code W diag(g)}. The gain g, stored less the offset, may be that of each of several heads.
   */
  record ScaleInputs(String gain, double offset, boolean inputsFirst) implements Step {
    @Override
    public Element on(StoredMatrix source, TensorFile model) throws IOException {
      int inputs = inputsFirst ? source.rows : source.columns;
      double[] g = StoredMatrix.vector(model, Optional.of(gain), 1, inputs);
      return (value, row, column) -> value * (g[inputsFirst ? row : column] + offset);
    }
  }

  record Scale(double factor) implements Step {
    @Override
    public Element on(StoredMatrix source, TensorFile model) {
      return (value, _, _) -> value * factor;
    }
  }

  record Fill(double value) implements Step {
    @Override
    public Element on(StoredMatrix source, TensorFile model) {
      return (_, _, _) -> value;
    }
  }

  /** {@code b + W beta} with W as it is stored, its inputs not scaled. */
  record AddProduct(Projection matrix, String beta) implements Step {
    @Override
    public Element on(StoredMatrix source, TensorFile model) throws IOException {
      try (Arena arena = Arena.ofConfined()) {
        StoredMatrix w = new StoredMatrix(model, matrix.weight(), arena);
        boolean inputsFirst = matrix.inputsFirst();
        double[] added = new double[inputsFirst ? w.columns : w.rows];
        int inputs = inputsFirst ? w.rows : w.columns;
        double[] vector = StoredMatrix.vector(model, Optional.of(beta), 0, inputs);
        w.addProduct(vector, inputsFirst, added, new double[added.length]);
        if (source.rows != 1 || source.columns != added.length) {
          throw new FormatException(
              model.path(),
              source.tensor.name(),
              "is %s, its matrix has %s outputs".formatted(source.tensor, added.length));
        }
        return (value, _, column) -> value + added[column];
      }
    }
  }

  /** Rows of the stored tensor lose their means, or else columns. A vector is one row. */
  record Center(boolean rows) implements Step {
    @Override
    public Element on(StoredMatrix source, TensorFile model) {
      double[] means = source.means(rows);
      return (value, row, column) -> value - means[rows ? row : column];
    }
  }

  Edit then(Step step) {
    return new Edit(source, Stream.concat(steps.stream(), Stream.of(step)).toList());
  }
}
