package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.Projection;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntBinaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each step against a plain loop in float64. */
class EditedTensorsTest {
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

  private RoundingCount count;

  private double[] edited(String source, Edit.Step... steps) throws IOException {
    return edited(Dtype.F64, source, steps);
  }

  /** The numbers that are stored in a type. */
  private double[] edited(Dtype dtype, String source, Edit.Step... steps) throws IOException {
    Path in = model.write(folder.resolve("m" + models++), Dtype.F64, 1);
    Path out = folder.resolve("out" + models + ".safetensors");
    try (TensorFile file = TensorFile.open(in)) {
      Tensor tensor = file.tensor(source).as(dtype);
      EditedTensors edited =
          new EditedTensors(file, Map.of(source, new Edit(source, List.of(steps))), _ -> {});
      try (TensorWriter writer = TensorWriter.create(out, List.of(tensor), Map.of(), false)) {
        edited.write(writer);
      }
      count = edited.count();
    }
    return TestModel.read(out, source);
  }

  private double[] stored(Dtype dtype, double... exact) throws IOException {
    model.put("x", exact, exact.length);
    return edited(dtype, "x");
  }

  private static Projection matrix(String weight, boolean inputsFirst) {
    return new Projection(weight, inputsFirst, Optional.empty());
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
        edited(SQUARE, new Edit.ScaleInputs(GAIN, 0, false)),
        WIDTH,
        WIDTH,
        (row, column) -> w.at(row, column) * gain[column]);
    assertElements(
        edited(SQUARE, new Edit.ScaleInputs(GAIN, 0, true)),
        WIDTH,
        WIDTH,
        (row, column) -> w.at(row, column) * gain[row]);
    assertElements(
        edited(SQUARE, new Edit.ScaleInputs(GAIN, 1, true)),
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
        edited(WIDE_BIAS, new Edit.AddProduct(matrix(WIDE, true), BETA)),
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
        edited(
            "transformer.h.0.attn.c_proj.bias", new Edit.AddProduct(matrix(SQUARE, false), BETA)),
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
        edited(WIDE, new Edit.Center(true)),
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
        edited(WIDE, new Edit.Center(false)),
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
    assertElements(
        edited(SQUARE, new Edit.ScaleInputs(GAIN, 0, true), new Edit.Scale(2)),
        WIDTH,
        WIDTH,
        (row, column) -> 2 * w[row * WIDTH + column] * gain[row]);
  }

  @Test
  void aConstant() throws IOException {
    assertThat(edited(GAIN, new Edit.Fill(1))).containsOnly(1).hasSize(WIDTH);
  }

  /** Many rows, with column means over all of them. */
  @Test
  void manyRows() throws IOException {
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
    double[] actual = edited("tall", new Edit.Center(false));
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
        edited(WIDE, new Edit.ScaleInputs(GAIN, 0, false)),
        WIDTH,
        columns,
        (row, column) -> w.at(row, column) * gain[column % WIDTH]);
  }

  @Test
  void refusesTensorsThatDoNotFit() {
    model.put("three", new double[3], 3);
    assertThatThrownBy(() -> edited(WIDE, new Edit.ScaleInputs("three", 0, false)))
        .isInstanceOf(FormatException.class)
        .hasMessageEndingWith("tensor 'three' has 3 elements, 64 are needed");
    assertThatThrownBy(() -> edited(WIDE_BIAS, new Edit.AddProduct(matrix(SQUARE, true), BETA)))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("its matrix has 16 outputs");
    model.put("cube", new double[8], 2, 2, 2);
    assertThatThrownBy(() -> edited("cube", new Edit.Fill(1)))
        .isInstanceOf(FormatException.class)
        .hasMessageContaining("only matrices and vectors");
  }

  /** Just above the middle of 1 and the next bfloat16: float32 would make it the middle first. */
  @Test
  void bfloat16IsRoundedOnce() throws IOException {
    double above = 1 + 0x1p-8 + 0x1p-40;
    assertThat(stored(Dtype.BF16, above, 1 + 0x1p-8, 1 + 3 * 0x1p-8, -above, 1.5))
        .containsExactly(1 + 0x1p-7, 1, 1 + 0x1p-6, -1 - 0x1p-7, 1.5);
    assertThat(count).isEqualTo(new RoundingCount(5, 4, 0, 0x1p-8 / (1 + 0x1p-8)));
  }

  @Test
  void float16IsRoundedOnceAlsoBelowTheNormalNumbers() throws IOException {
    assertThat(stored(Dtype.F16, 1 + 0x1p-11 + 0x1p-40, 0x1p-24, 0x1.8p-25, 0x1p-25, 65504))
        .containsExactly(1 + 0x1p-10, 0x1p-24, 0x1p-24, 0, 65504);
    assertThat(count.changed()).isEqualTo(3);
    assertThat(count.small()).as("one number became 0").isEqualTo(2);
    assertThat(count.largest()).isLessThan(0x1p-11);
  }

  @Test
  void wideTypesKeepTheirNumbers() throws IOException {
    assertThat(stored(Dtype.F64, Math.PI)).containsExactly(Math.PI);
    assertThat(count).isEqualTo(new RoundingCount(1, 0, 0, 0));
    assertThat(stored(Dtype.F32, Math.PI)).containsExactly((float) Math.PI);
    assertThat(count.changed()).isEqualTo(1);
  }

  @Test
  void aNumberThatTheTypeDoesNotHoldIsRefused() {
    for (double number : new double[] {65520, Double.NaN, Double.NEGATIVE_INFINITY}) {
      assertThatThrownBy(() -> stored(Dtype.F16, 1, 2, number))
          .isInstanceOf(RefusedException.class)
          .hasMessage(
              "x: element 2 becomes %s, it must be a finite number of float16".formatted(number));
    }
  }
}
