package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntBinaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each step against a plain loop in float64. */
class EditedTensorTest {
  private static final int WIDTH = TestModel.WIDTH;
  private static final String SQUARE = "transformer.h.0.attn.c_proj.weight";
  private static final String WIDE = "transformer.h.0.mlp.c_fc.weight";
  private static final String WIDE_BIAS = "transformer.h.0.mlp.c_fc.bias";
  private static final String GAIN = "transformer.h.0.ln_2.weight";
  private static final String BETA = "transformer.h.0.ln_2.bias";

  @TempDir private Path folder;
  private final TestModel model = TestModel.gpt2(WIDTH);
  private final double[] gain = model.values(GAIN);
  private int models;

  private interface Value {
    double at(int row, int column);
  }

  private double[] edited(String source, Step... steps) throws IOException {
    Path path = folder.resolve("m" + models++);
    try (TensorFile file = TensorFile.open(model.write(path, Dtype.F64, 1))) {
      double[] all = new double[(int) file.tensor(source).elements()];
      int columns = (int) (long) file.tensor(source).shape().getLast();
      Edit edit = new Edit(source, List.of(steps));
      new EditedTensor(file, edit, new StoredVectors(file), _ -> {})
          .forEach(
              (values, first, rows) ->
                  System.arraycopy(values, 0, all, (int) first * columns, rows * columns));
      return all;
    }
  }

  private static void assertElements(double[] actual, int rows, int columns, Value expected) {
    assertThat(actual).hasSize(rows * columns);
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < columns; column++) {
        assertThat(actual[row * columns + column])
            .as("row %d, column %d", row, column)
            .isCloseTo(expected.at(row, column), within(1e-14));
      }
    }
  }

  private static Value of(double[] values, IntBinaryOperator index) {
    return (row, column) -> values[index.applyAsInt(row, column)];
  }

  @Test
  void theGainScalesTheInputsWhereverTheyAre() throws IOException {
    Value w = of(model.values(SQUARE), (row, column) -> row * WIDTH + column);
    assertElements(
        edited(SQUARE, new Step.ScaleInputs(GAIN, 0, false, false)),
        WIDTH,
        WIDTH,
        (row, column) -> w.at(row, column) * gain[column]);
    assertElements(
        edited(SQUARE, new Step.ScaleInputs(GAIN, 0, true, false)),
        WIDTH,
        WIDTH,
        (row, column) -> w.at(row, column) * gain[row]);
    assertElements(
        edited(SQUARE, new Step.ScaleInputs(GAIN, 1, true, false)),
        WIDTH,
        WIDTH,
        (row, column) -> w.at(row, column) * (1 + gain[row]));
  }

  @Test
  void aBiasTakesTheProductOfTheStoredMatrixWithTheNormsBias() throws IOException {
    double[] w = model.values(WIDE);
    double[] beta = model.values(BETA);
    double[] b = model.values(WIDE_BIAS);
    assertElements(
        edited(WIDE_BIAS, new Step.AddProduct(WIDE, true, BETA)),
        1,
        4 * WIDTH,
        (_, output) -> {
          double sum = b[output];
          for (int input = 0; input < WIDTH; input++) {
            sum += w[input * 4 * WIDTH + output] * beta[input];
          }
          return sum;
        });
  }

  @Test
  void aProductWithOutputsFirst() throws IOException {
    double[] w = model.values(SQUARE);
    double[] beta = model.values(BETA);
    double[] b = model.values("transformer.h.0.attn.c_proj.bias");
    assertElements(
        edited("transformer.h.0.attn.c_proj.bias", new Step.AddProduct(SQUARE, false, BETA)),
        1,
        WIDTH,
        (_, output) -> {
          double sum = b[output];
          for (int input = 0; input < WIDTH; input++) {
            sum += w[output * WIDTH + input] * beta[input];
          }
          return sum;
        });
  }

  @Test
  void rowsAndColumnsLoseTheirMeans() throws IOException {
    double[] w = model.values(WIDE);
    int columns = 4 * WIDTH;
    assertElements(
        edited(WIDE, new Step.CentreRows()),
        WIDTH,
        columns,
        (row, column) -> {
          double sum = 0;
          for (int i = 0; i < columns; i++) {
            sum += w[row * columns + i];
          }
          return w[row * columns + column] - sum / columns;
        });
    assertElements(
        edited(WIDE, new Step.CentreColumns()),
        WIDTH,
        columns,
        (row, column) -> {
          double sum = 0;
          for (int i = 0; i < WIDTH; i++) {
            sum += w[i * columns + column];
          }
          return w[row * columns + column] - sum / WIDTH;
        });
  }

  @Test
  void stepsAreDoneInOrder() throws IOException {
    double[] w = model.values(SQUARE);
    double[] columnMeans = new double[WIDTH];
    for (int i = 0; i < WIDTH * WIDTH; i++) {
      columnMeans[i % WIDTH] += 2 * w[i] * gain[i / WIDTH] / WIDTH;
    }
    assertElements(
        edited(
            SQUARE,
            new Step.ScaleInputs(GAIN, 0, true, false),
            new Step.Scale(2),
            new Step.CentreColumns()),
        WIDTH,
        WIDTH,
        (row, column) -> 2 * w[row * WIDTH + column] * gain[row] - columnMeans[column]);
  }

  @Test
  void aConstant() throws IOException {
    assertThat(edited(GAIN, new Step.Fill(1))).containsOnly(1).hasSize(WIDTH);
  }

  /** More rows than a block has, with column means over all of them. */
  @Test
  void manyBlocks() throws IOException {
    int rows = 1 << 16;
    double[] tall = new double[rows * WIDTH];
    for (int i = 0; i < tall.length; i++) {
      tall[i] = i % 1009;
    }
    model.put("tall", tall, rows, WIDTH);
    double[] means = new double[WIDTH];
    for (int i = 0; i < tall.length; i++) {
      means[i % WIDTH] += tall[i];
    }
    double[] actual = edited("tall", new Step.CentreColumns());
    for (int i = 0; i < tall.length; i++) {
      assertThat(actual[i]).isCloseTo(tall[i] - means[i % WIDTH] / rows, within(1e-9));
    }
  }

  /** A gain of one head is repeated for all heads of the matrix. */
  @Test
  void aGainOfHeads() throws IOException {
    int columns = 4 * WIDTH;
    Value w = of(model.values(WIDE), (row, column) -> row * columns + column);
    assertElements(
        edited(WIDE, new Step.ScaleInputs(GAIN, 0, false, true)),
        WIDTH,
        columns,
        (row, column) -> w.at(row, column) * gain[column % WIDTH]);
  }

  @Test
  void refusesTensorsThatDoNotFit() {
    assertThatThrownBy(() -> edited(WIDE, new Step.ScaleInputs(GAIN, 0, false, false)))
        .isInstanceOf(FormatException.class)
        .hasMessageEndingWith(
            "tensor 'transformer.h.0.mlp.c_fc.weight' is transformer.h.0.mlp.c_fc.weight f64"
                + " [16, 64], which does not fit transformer.h.0.ln_2.weight");
    assertThatThrownBy(() -> edited(WIDE_BIAS, new Step.AddProduct(SQUARE, true, BETA)))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("does not fit");
    model.put("cube", new double[8], 2, 2, 2);
    assertThatThrownBy(() -> edited("cube", new Step.Fill(1)))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("only matrices and vectors");
  }
}
