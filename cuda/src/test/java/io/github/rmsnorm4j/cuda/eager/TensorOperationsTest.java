package io.github.rmsnorm4j.cuda.eager;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.CudaStream;
import io.github.rmsnorm4j.cuda.testing.StubGpu;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each operation gives what one line of Java does, rounded to the type. */
class TensorOperationsTest {
  private static final long SEED = 20261125;

  @ParameterizedTest
  @CsvSource({
    "FLOAT32, 5, 96",
    "FLOAT32, 3, 1100",
    "FLOAT16, 1030, 8",
    "FLOAT16, 2, 2049",
    "BFLOAT16, 9, 33"
  })
  void operationsRoundOnce(ElementType type, int rows, int width) throws IOException {
    try (StubGpu gpu = new StubGpu()) {
      try (CudaDevice device = CudaDevice.open().orElseThrow();
          CudaStream stream = device.stream();
          TensorOperations operations = new TensorOperations(device, stream, type, rows, width);
          Arena arena = Arena.ofConfined()) {
        new Run(device, stream, operations, arena, type, rows, width).check();
      }
      gpu.rethrow();
      assertThat(gpu.leaks()).isEmpty();
    }
  }

  private record Run(
      CudaDevice device,
      CudaStream stream,
      TensorOperations operations,
      Arena arena,
      ElementType type,
      int rows,
      int width) {
    void check() {
      SplittableRandom random = new SplittableRandom(SEED);
      double[] x = new double[rows * width];
      Arrays.setAll(x, i -> type.round(random.nextDouble(-3, 3)));
      float[] columns = new float[width];
      for (int i = 0; i < width; i++) {
        columns[i] = (float) random.nextDouble(0.5, 2);
      }
      double[] numbers = new double[rows];
      Arrays.setAll(numbers, r -> type.round((float) random.nextDouble(0.5, 2)));

      CudaMemory in = device.allocate((long) x.length * type.bytes(), arena);
      MemorySegment host = arena.allocate(in.byteSize(), 8);
      for (int i = 0; i < x.length; i++) {
        type.set(host, i, x[i]);
      }
      in.copyFrom(host);
      CudaMemory out = device.allocate(in.byteSize(), arena);
      CudaMemory ofColumns = device.allocate(4L * width, arena);
      ofColumns.copyFrom(MemorySegment.ofArray(columns));
      CudaMemory ofRows = device.allocate(8L * rows, arena);
      ofRows.copyFrom(MemorySegment.ofArray(numbers));

      operations.square(in, out);
      same(out, "square", i -> (float) x[i] * (float) x[i]);
      operations.multiply(in, in, out);
      same(out, "multiply", i -> (float) x[i] * (float) x[i]);
      operations.add(in, in, out);
      same(out, "add", i -> (float) x[i] + (float) x[i]);
      operations.scale(in, ofRows, out);
      same(out, "scale", i -> (float) x[i] * (float) numbers[i / width]);
      operations.subtract(in, ofRows, out);
      same(out, "subtract", i -> (float) x[i] - (float) numbers[i / width]);
      operations.scaleColumns(in, ofColumns, out);
      same(out, "scaleColumns", i -> (float) x[i] * columns[i % width]);
      operations.shiftColumns(in, ofColumns, out);
      same(out, "shiftColumns", i -> (float) x[i] + columns[i % width]);
      operations.rowMeans(in, ofRows);
      double[] means = numbersOf(ofRows);
      operations.rowSums(in, ofRows);
      double[] sums = numbersOf(ofRows);
      for (int r = 0; r < rows; r++) {
        double sum = Arrays.stream(x, r * width, (r + 1) * width).sum();
        isRounded(sums[r], sum);
        isRounded(means[r], sum / width);
      }
      checkColumnSums(x, in);
      ofRows.copyFrom(MemorySegment.ofArray(numbers));
      operations.rstd(ofRows, 1e-5);
      double[] roots = numbersOf(ofRows);
      for (int r = 0; r < rows; r++) {
        double sum = type.round((float) (numbers[r] + 1e-5));
        assertThat(roots[r]).isEqualTo(type.round((float) (1 / Math.sqrt(sum))));
      }
      CudaMemory gradients = device.allocate(8L * rows, arena);
      gradients.copyFrom(MemorySegment.ofArray(numbers));
      operations.throughRoot(gradients, ofRows);
      double[] slopes = numbersOf(gradients);
      for (int r = 0; r < rows; r++) {
        float root = (float) roots[r];
        assertThat(slopes[r])
            .isEqualTo(type.round(-(float) numbers[r] * (root * root * root) / width));
      }
    }

    /** The sum in float64 has another order, so a result may be the next number of the type. */
    private void isRounded(double number, double exact) {
      assertThat(number).isEqualTo(type.round(number));
      assertThat(Math.abs(number - exact))
          .isLessThanOrEqualTo(type.unitRoundoff() * Math.abs(exact) * 1.001 + 1e-12);
    }

    /** In blocks of 32 rows, and blocks as a tree, in float32. */
    private void checkColumnSums(double[] x, CudaMemory in) {
      CudaMemory table = device.allocate(operations.tableBytes(), arena);
      CudaMemory sums = device.allocate(4L * width, arena);
      operations.columnSums(in, table, sums);
      stream.synchronize();
      float[] got = new float[width];
      sums.copyTo(MemorySegment.ofArray(got));
      float[] wanted = new float[width];
      for (int column = 0; column < width; column++) {
        List<Float> nodes = new ArrayList<>();
        for (int block = 0; block < rows; block += 32) {
          float sum = 0;
          for (int row = block; row < Math.min(rows, block + 32); row++) {
            sum += (float) x[row * width + column];
          }
          nodes.add(sum);
        }
        while (nodes.size() > 1) {
          List<Float> parents = new ArrayList<>();
          for (int k = 0; k < nodes.size(); k += 2) {
            parents.add(k + 1 < nodes.size() ? nodes.get(k) + nodes.get(k + 1) : nodes.get(k));
          }
          nodes = parents;
        }
        wanted[column] = nodes.getFirst();
      }
      assertThat(got).isEqualTo(wanted);
    }

    private double[] numbersOf(CudaMemory memory) {
      double[] numbers = new double[rows];
      stream.synchronize();
      memory.copyTo(MemorySegment.ofArray(numbers));
      return numbers;
    }

    private void same(CudaMemory out, String operation, IntToDoubleFunction wanted) {
      MemorySegment host = arena.allocate(out.byteSize(), 8);
      stream.synchronize();
      out.copyTo(host);
      for (int i = 0; i < rows * width; i++) {
        assertThat(type.get(host, i))
            .as("%s at %s", operation, i)
            .isEqualTo(type.round(wanted.applyAsDouble(i)));
      }
    }
  }
}
