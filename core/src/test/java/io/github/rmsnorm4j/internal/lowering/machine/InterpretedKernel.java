package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import io.github.rmsnorm4j.internal.machine.InterpretedCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * A kernel of machine code, run once by the interpreter: on memory that ends where rows and columns
 * end. What its stages do not write it may only read.
 */
final class InterpretedKernel {
  /** Widths that reach all instructions of a kernel; some have kernels of their own. */
  static final List<Integer> WIDTHS =
      List.of(1, 2, 31, 32, 33, 64, 95, 96, 256, 300, 385, 514, 1024, 1025, 1056, 2079);

  /** Flush to zero, and subnormals as zero: what other native code may have left. */
  private static final int FLUSHES = 0x1f80 | 0x8040;

  private static final long AREA = 0x1000_0000L;
  private static final long ROWS = 0x10_0000_0000L;
  private static final long COLUMNS = 0x20_0000_0000L;
  private static final long APART = 0x1000_0000L;

  /** Where rows are. */
  private record Place(long address, int stride) {
    long row(int row) {
      return address + (long) row * stride;
    }
  }

  private final Target target;
  private final InterpretedCode interpreter;

  /** The part of its own memory that the caller has written, but for the numbers of rows. */
  private final byte[] written = new byte[Area.of(Forward.EPSILON) + Double.BYTES];

  private final Map<byte[], Place> places = new IdentityHashMap<>();

  /** Bytes from where it would be aligned to where the output is. */
  private final int shift;

  InterpretedKernel(Target target) {
    this(target, 0);
  }

  /**
   * A kernel whose output need not be aligned.
   *
   * @param shift what it is off
   */
  InterpretedKernel(Target target, int shift) {
    this.target = target;
    this.shift = shift;
    interpreter = new InterpretedCode(MachineCode.of(target), FLUSHES);
    MemorySegment.ofArray(written)
        .set(ValueLayout.JAVA_INT_UNALIGNED, Area.MXCSR, FloatingPointState.CONTRACT);
  }

  private void put(int at, long value) {
    MemorySegment.ofArray(written).set(ValueLayout.JAVA_LONG_UNALIGNED, at, value);
  }

  private void put(int at, double value) {
    put(at, Double.doubleToRawLongBits(value));
  }

  /** Runs it; gives back how many rows are done. */
  int run(Given given) {
    for (Stage stage : target.stages()) {
      Given.rowsWritten(stage).keySet().forEach(operand -> place(given, operand, true));
    }
    given.operands().keySet().forEach(operand -> place(given, operand, false));
    given.columns().forEach(this::placeColumn);
    put(Area.ROWS, given.rows());
    put(Area.WIDTH, given.width());
    put(Area.SUMMED, given.width());
    put(Area.of(Forward.K), (double) given.width());
    put(Area.of(Forward.EPSILON), given.epsilon());
    interpreter.unknown(AREA, Area.BYTES);
    interpreter.set(AREA, written);
    byte[] mask = new byte[2 * Area.MASK_BYTES];
    Arrays.fill(mask, 0, Area.MASK_BYTES, (byte) -1);
    interpreter.set(AREA + Area.MASK - Area.MASK_BYTES, mask);
    given.numbers().forEach(this::set);
    List<Long> arguments = new ArrayList<>(List.of(AREA));
    target.rows().forEach(rows -> arguments.add(base(rows)));
    int done = (int) interpreter.run(arguments);
    requireUnchanged();
    given.operands().forEach((operand, bytes) -> copy(given, bytes));
    given.columns().forEach((column, bytes) -> interpreter.copy(bytes, address(column)));
    return done;
  }

  /** The kernel could run again: it has left what it was given, but for its caller's state. */
  private void requireUnchanged() {
    byte[] left = new byte[written.length];
    interpreter.copy(left, AREA);
    Arrays.fill(left, Area.CALLERS_MXCSR, Area.MXCSR, (byte) 0);
    assertThat(left).as("what a kernel was given").isEqualTo(written);
  }

  private void place(Given given, Tensor operand, boolean writable) {
    byte[] bytes = given.operands().get(operand);
    int size = bytes.length / given.rows();
    if (!places.containsKey(bytes)) {
      Place place = new Place(address(operand), stride(operand, size));
      places.put(bytes, place);
      for (int row = 0; row < given.rows(); row++) {
        interpreter.memory(place.row(row), given.row(operand, row), writable);
      }
    }
    put(Area.address(operand), places.get(bytes).address - base(operand));
    put(Area.stride(operand), places.get(bytes).stride);
  }

  /** What a tensor's rows are relative to, as in arrays. */
  private static long base(Tensor rows) {
    return ROWS + (rows.place() + 1) * 0x1234_5678L;
  }

  private void placeColumn(Tensor column, byte[] bytes) {
    boolean writable =
        target.stages().stream()
            .flatMap(stage -> stage.columnSums().stream())
            .anyMatch(sum -> sum.column().equals(column));
    interpreter.memory(address(column), bytes, writable);
    put(Area.address(column), address(column));
  }

  private void set(Tensor number, double[] ofRows) {
    ByteBuffer bytes = ByteBuffer.allocate(ofRows.length * Double.BYTES);
    bytes.order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().put(ofRows);
    interpreter.set(AREA + Area.of(number), bytes.array());
  }

  private void copy(Given given, byte[] bytes) {
    int size = bytes.length / given.rows();
    for (int row = 0; row < given.rows(); row++) {
      byte[] ofRow = new byte[size];
      interpreter.copy(ofRow, places.get(bytes).row(row));
      System.arraycopy(ofRow, 0, bytes, row * size, size);
    }
  }

  /** A number of the first row. */
  double number(Tensor number) {
    return number(Area.of(number));
  }

  /** The lanes of a row sum of the first stage, as the last row has left them. */
  double[] lanes(int sum) {
    double[] lanes = new double[SumOrder.LANES];
    for (int at = 0; at < lanes.length; at++) {
      int lane = target.lane(target.stages().getFirst(), at);
      lanes[lane] = number(Area.totals(sum) + at * Double.BYTES);
    }
    return lanes;
  }

  private double number(int at) {
    byte[] bytes = new byte[Double.BYTES];
    interpreter.copy(bytes, AREA + at);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getDouble();
  }

  /** From a row to the next there is memory that nobody may touch. */
  private int stride(Tensor rows, int size) {
    int aligned = Area.aligned(size) + Area.ALIGNMENT;
    return target.streams(rows) ? aligned : aligned + 1 + 6 * rows.place();
  }

  /** Only an output with non-temporal stores may be aligned. */
  private long address(Tensor tensor) {
    if (tensor.access() == Tensor.Access.COLUMN) {
      return COLUMNS + tensor.place() * APART + 4;
    }
    int from = target.streams(tensor) ? shift : 3 + 2 * tensor.place();
    return ROWS + tensor.place() * APART + from;
  }

  /** Lines that were never run. */
  List<String> unreached() {
    return interpreter.unreached();
  }
}
