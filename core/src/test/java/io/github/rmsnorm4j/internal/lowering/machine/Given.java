package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a kernel works on. What it writes is written to it. Operands that are the same array are the
 * same rows.
 *
 * @param operands bytes of each, one row after the other
 * @param columns bytes of each
 * @param numbers of each row, where they are known
 */
record Given(
    int rows,
    int width,
    double epsilon,
    Map<Tensor, byte[]> operands,
    Map<Tensor, byte[]> columns,
    Map<Tensor, double[]> numbers) {

  Given(int rows, int width, double epsilon) {
    this(rows, width, epsilon, new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
  }

  /** The rows that a stage writes, with their types. */
  static Map<Tensor, ElementType> rowsWritten(Stage stage) {
    Map<Tensor, ElementType> rows = new TreeMap<>(stage.written());
    rows.keySet().retainAll(stage.rows().keySet());
    return rows;
  }

  /** Operands of these types, and columns. All NaN of a type are one, since they may be any. */
  Map<String, byte[]> written(Map<Tensor, ElementType> types) {
    Map<String, byte[]> written = new TreeMap<>();
    types.forEach(
        (operand, type) -> {
          byte[] bytes = operands.get(operand);
          boolean narrow = type.bytes() == Short.BYTES;
          written.put(operand.name(), narrow ? bytes : bytes(numbers(bytes, type), type));
        });
    ElementType type = columnType();
    columns.forEach(
        (column, bytes) -> written.put(column.name(), bytes(numbers(bytes, type), type)));
    return written;
  }

  /** The compute type. */
  private ElementType columnType() {
    boolean float64 = columns.values().stream().anyMatch(c -> c.length == width * Double.BYTES);
    return float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
  }

  /** Float32 or float64 numbers; each is the float64 that is equal to it. */
  static double[] numbers(byte[] bytes, ElementType type) {
    MemorySegment elements = MemorySegment.ofArray(bytes);
    double[] numbers = new double[bytes.length / type.bytes()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = type.get(elements, i);
    }
    return numbers;
  }

  /** Numbers of columns as plain Java has them: float[] or double[]. */
  static Object array(byte[] bytes, ElementType type) {
    return type == ElementType.FLOAT64 ? numbers(bytes, type) : floats(bytes);
  }

  private static float[] floats(byte[] bytes) {
    float[] floats = new float[bytes.length / Float.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(floats);
    return floats;
  }

  /** Numbers as bytes of a type, with one NaN. */
  static byte[] bytes(double[] numbers, ElementType type) {
    byte[] bytes = new byte[numbers.length * type.bytes()];
    MemorySegment elements = MemorySegment.ofArray(bytes);
    for (int i = 0; i < numbers.length; i++) {
      type.set(elements, i, Double.isNaN(numbers[i]) ? Double.NaN : numbers[i]);
    }
    return bytes;
  }

  /** A row of an operand. */
  byte[] row(Tensor operand, int row) {
    byte[] bytes = operands.get(operand);
    int size = bytes.length / rows;
    return Arrays.copyOfRange(bytes, row * size, (row + 1) * size);
  }
}
