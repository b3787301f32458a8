package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Tensor;
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

  /** The rows that a part writes, with their types. */
  static Map<Tensor, ElementType> rowsWritten(Part part) {
    Map<Tensor, ElementType> rows = new TreeMap<>(part.written());
    rows.keySet().retainAll(part.rows().keySet());
    return rows;
  }

  /** Operands of these types, and columns. All NaN of float32 are one, since they may be any. */
  Map<String, byte[]> written(Map<Tensor, ElementType> types) {
    Map<String, byte[]> written = new TreeMap<>();
    types.forEach(
        (operand, type) -> {
          byte[] bytes = operands.get(operand);
          written.put(operand.name(), type == ElementType.FLOAT32 ? withOneNan(bytes) : bytes);
        });
    columns.forEach((column, bytes) -> written.put(column.name(), withOneNan(bytes)));
    return written;
  }

  private static byte[] withOneNan(byte[] bytes) {
    return bytes(floats(bytes));
  }

  static float[] floats(byte[] bytes) {
    float[] floats = new float[bytes.length / Float.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(floats);
    return floats;
  }

  /** Floats with one NaN. */
  static byte[] bytes(float[] floats) {
    ByteBuffer bytes = ByteBuffer.allocate(floats.length * Float.BYTES);
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    for (float number : floats) {
      bytes.putInt(Float.floatToIntBits(number));
    }
    return bytes.array();
  }

  /** A row of an operand. */
  byte[] row(Tensor operand, int row) {
    byte[] bytes = operands.get(operand);
    int size = bytes.length / rows;
    return Arrays.copyOfRange(bytes, row * size, (row + 1) * size);
  }
}
