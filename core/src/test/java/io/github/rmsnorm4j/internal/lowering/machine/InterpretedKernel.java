package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.CallNumber;
import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.machine.Code;
import io.github.rmsnorm4j.internal.machine.InterpretedCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A kernel of machine code, run by the interpreter: on memory that ends where rows and columns end.
 */
final class InterpretedKernel {
  private static final long AREA = 0x1000_0000L;
  private static final long MASK = 0x2000_0000L;
  private static final long ROWS = 0x10_0000_0000L;
  private static final long COLUMNS = 0x20_0000_0000L;
  private static final long APART = 0x1000_0000L;

  private final InterpretedCode interpreter;
  private final byte[] area = new byte[Area.BYTES];

  /** Whoever calls has this state of the floating-point unit. */
  InterpretedKernel(Code code, int callersState) {
    interpreter = new InterpretedCode(code, callersState);
    byte[] mask = new byte[2 * RowSum.LANES * Long.BYTES];
    Arrays.fill(mask, 0, mask.length / 2, (byte) -1);
    interpreter.memory(MASK, mask, false);
    put(Area.MASK, MASK + mask.length / 2);
    MemorySegment.ofArray(area).set(ValueLayout.JAVA_INT_UNALIGNED, Area.MXCSR, MachineCode.MXCSR);
  }

  private void put(int at, long value) {
    MemorySegment.ofArray(area).set(ValueLayout.JAVA_LONG_UNALIGNED, at, value);
  }

  private void put(int at, double value) {
    put(at, Double.doubleToRawLongBits(value));
  }

  /**
   * Runs it.
   *
   * @param rows bytes of each operand, one row after the other; outputs are written to them
   * @param columns bytes of each column
   * @return how many rows are done
   */
  int run(
      Map<Operand, byte[]> rows, Map<Column, byte[]> columns, int n, int width, double epsilon) {
    rows.forEach(
        (operand, bytes) -> {
          int size = bytes.length / n;
          for (int row = 0; row < n; row++) {
            byte[] ofRow = Arrays.copyOfRange(bytes, row * size, (row + 1) * size);
            interpreter.memory(address(operand) + (long) row * stride(size), ofRow, true);
          }
          put(Area.address(operand), address(operand));
          put(Area.stride(operand), stride(size));
        });
    columns.forEach(
        (column, bytes) -> {
          long at = COLUMNS + column.ordinal() * APART + 4;
          interpreter.memory(at, bytes, false);
          put(Area.address(column), at);
        });
    put(Area.ROWS, n);
    put(Area.WIDTH, width);
    put(Area.SUMMED, width);
    put(Area.of(CallNumber.K), (double) width);
    put(Area.of(CallNumber.EPSILON), epsilon);
    // Of its own memory a kernel may read no more than the caller has written.
    interpreter.partlyKnown(AREA, area, Area.of(CallNumber.EPSILON) + Double.BYTES);
    int done = (int) interpreter.run(AREA, 5);
    rows.forEach(
        (operand, bytes) -> {
          int size = bytes.length / n;
          for (int row = 0; row < n; row++) {
            byte[] ofRow = new byte[size];
            interpreter.copy(ofRow, address(operand) + (long) row * stride(size));
            System.arraycopy(ofRow, 0, bytes, row * size, size);
          }
        });
    return done;
  }

  /** From a row to the next there is memory that nobody may touch. */
  private static int stride(int size) {
    return Area.aligned(size) + Area.ALIGNMENT;
  }

  /** Only the output is aligned. */
  private static long address(Operand operand) {
    return ROWS + operand.ordinal() * APART + (operand == Operand.Y ? 0 : 4);
  }

  /** Lines that were never run. */
  List<String> unreached() {
    return interpreter.unreached();
  }
}
