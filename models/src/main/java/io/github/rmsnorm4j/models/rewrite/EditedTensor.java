package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.reference.Definitions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

/** The numbers of an edited tensor in float64, block by block, before they are rounded. */
final class EditedTensor {
  private final TensorFile file;
  private final Vectors vectors;
  private final LongConsumer progress;
  private final Blocks source;

  /** The steps with the numbers that they need. */
  private final List<Blocks.Sink> prepared = new ArrayList<>();

  /** Prepares the steps; for the mean of columns and for products, that reads whole tensors. */
  EditedTensor(TensorFile file, Edit edit, Vectors vectors, LongConsumer progress)
      throws IOException {
    this.file = file;
    this.vectors = vectors;
    this.progress = progress;
    Tensor tensor = file.tensor(edit.source());
    this.source = new Blocks(file, tensor, progress);
    for (Step step : edit.steps()) {
      prepared.add(prepare(step, tensor));
    }
  }

  /** Gives all rows to a sink, in order. */
  void forEach(Blocks.Sink sink) throws IOException {
    source.forEach(
        (values, first, rows) -> {
          for (Blocks.Sink step : prepared) {
            step.accept(values, first, rows);
          }
          sink.accept(values, first, rows);
        });
  }

  private Blocks.Sink prepare(Step step, Tensor tensor) throws IOException {
    int columns = source.columns;
    return switch (step) {
      case Step.ScaleInputs scale -> scale(scale, tensor);
      case Step.Scale scale ->
          (values, _, rows) -> {
            for (int i = 0; i < rows * columns; i++) {
              values[i] *= scale.factor();
            }
          };
      case Step.Fill fill ->
          (values, _, rows) -> Arrays.fill(values, 0, rows * columns, fill.value());
      case Step.AddProduct product -> {
        double[] added = product(product, tensor);
        yield (values, _, _) -> add(values, 0, added, 1);
      }
      case Step.CentreRows _ -> this::centreRows;
      case Step.CentreColumns _ -> {
        double[] means = columnMeans();
        yield (values, _, rows) -> {
          for (int row = 0; row < rows; row++) {
            add(values, row * columns, means, -1);
          }
        };
      }
    };
  }

  private Blocks.Sink scale(Step.ScaleInputs step, Tensor tensor) throws IOException {
    double[] gain = Definitions.offsetGain(vectors.of(step.gain()), step.offset());
    int columns = source.columns;
    long inputs = step.inputsFirst() ? source.rows : columns;
    if (step.heads() ? inputs % gain.length != 0 : inputs != gain.length) {
      throw unfit(tensor, step.gain());
    }
    return (values, first, rows) -> {
      for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
          int input = step.inputsFirst() ? (int) first + row : column;
          values[row * columns + column] *= gain[input % gain.length];
        }
      }
    };
  }

  /** W beta. */
  private double[] product(Step.AddProduct step, Tensor bias) throws IOException {
    double[] beta = vectors.of(step.beta());
    Blocks weight = new Blocks(file, file.tensor(step.weight()), progress);
    long inputs = step.inputsFirst() ? weight.rows : weight.columns;
    long outputs = step.inputsFirst() ? weight.columns : weight.rows;
    if (inputs != beta.length || outputs != source.columns || source.rows != 1) {
      throw unfit(bias, step.weight());
    }
    double[] product = new double[source.columns];
    weight.forEach(
        (values, first, rows) -> {
          for (int row = 0; row < rows; row++) {
            for (int column = 0; column < weight.columns; column++) {
              int input = step.inputsFirst() ? (int) first + row : column;
              int output = step.inputsFirst() ? column : (int) first + row;
              product[output] += values[row * weight.columns + column] * beta[input];
            }
          }
        });
    return product;
  }

  private FormatException unfit(Tensor tensor, String other) {
    return new FormatException(
        file.path(), tensor.name(), "is %s, which does not fit %s".formatted(tensor, other));
  }

  private void centreRows(double[] values, long first, int rows) {
    int columns = source.columns;
    for (int row = 0; row < rows; row++) {
      double sum = 0;
      for (int column = 0; column < columns; column++) {
        sum += values[row * columns + column];
      }
      double mean = sum / columns;
      for (int column = 0; column < columns; column++) {
        values[row * columns + column] -= mean;
      }
    }
  }

  /** The means after the steps that are prepared until now. */
  private double[] columnMeans() throws IOException {
    double[] means = new double[source.columns];
    forEach(
        (values, _, rows) -> {
          for (int row = 0; row < rows; row++) {
            for (int column = 0; column < means.length; column++) {
              means[column] += values[row * means.length + column];
            }
          }
        });
    for (int column = 0; column < means.length; column++) {
      means[column] /= source.rows;
    }
    return means;
  }

  private static void add(double[] values, int at, double[] added, int sign) {
    for (int i = 0; i < added.length; i++) {
      values[at + i] += sign * added[i];
    }
  }
}
