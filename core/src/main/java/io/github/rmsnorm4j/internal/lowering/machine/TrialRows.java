package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.ColumnMemory;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.machine.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Drawn rows and columns of a trial, twice: for the kernel, and for plain Java. Rows begin anywhere
 * and are apart, but for an output with non-temporal stores. They are relative to bases that are
 * not 0, as those in arrays are.
 */
final class TrialRows implements AutoCloseable {
  /** The row whose root is below epsilon. */
  static final int TINY = 1;

  private static final int NAN = 0x7fc00000;

  /** One element in so many is subnormal. */
  private static final int SUBNORMAL = 50;

  /** Rows in memory; what is between them stays as it is. */
  private record Place(MemorySegment tried, MemorySegment plain, long stride) {
    boolean isSame(int rows) {
      long bytes = rows * stride;
      return tried.asSlice(0, bytes).mismatch(plain.asSlice(0, bytes)) < 0;
    }
  }

  private final Target target;
  private final int rows;
  private final int width;

  /** The row with a NaN. */
  private final int bad;

  private final Map<Tensor, Place> places = new TreeMap<>();
  private final Map<Tensor, MemorySegment> columns = new TreeMap<>();
  private final List<NativeMemory> memory = new ArrayList<>();
  private int random = 1;

  /** The bases of the tensors of elements, in the order in which a kernel takes them. */
  final long[] bases = new long[Tensor.Access.ELEMENT.places()];

  TrialRows(Target target, int rows, int width, int bad) {
    this.target = target;
    this.rows = rows;
    this.width = width;
    this.bad = bad;
  }

  @Override
  public void close() {
    memory.forEach(NativeMemory::close);
  }

  private MemorySegment memory(long bytes) {
    memory.add(new NativeMemory(bytes));
    return memory.getLast().segment();
  }

  /** Numbers of about 1, from a generator that is the same everywhere. */
  private int pattern(int i) {
    random = random * 1_664_525 + 1_013_904_223;
    int pattern = random >>> 9 | 0x3f800000 | random & 0x80000000;
    return i % SUBNORMAL == 1 ? pattern & 0x807fffff : pattern;
  }

  private boolean isStreamed(Tensor operand) {
    return target.streams(operand);
  }

  /** Elements from a row to the next. If a streamed output need not be aligned, one row is. */
  private int apart(Tensor operand, ElementType type) {
    if (isStreamed(operand)) {
      return Area.aligned(width * type.bytes()) / type.bytes() + (target.peels() ? 1 : 0);
    }
    return width + random(8);
  }

  private int random(int below) {
    return (pattern(0) & 0x7fffff) % below;
  }

  /** Draws rows. */
  void add(Tensor operand, ElementType type) {
    int apart = apart(operand, type);
    float[] numbers = new float[rows * apart];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = number(i == bad * apart ? NAN : pattern(i), type);
      if (operand.equals(Forward.X) && i / apart == TINY) {
        numbers[i] *= 0x1p-22f;
      }
    }
    long start = isStreamed(operand) ? 0 : random(Area.ALIGNMENT);
    long bytes = (long) numbers.length * type.bytes();
    MemorySegment segment = memory(start + bytes).asSlice(start);
    if (type == ElementType.FLOAT64) {
      segment.copyFrom(MemorySegment.ofArray(doubles(numbers)));
    } else {
      for (int i = 0; i < numbers.length; i++) {
        Memory.setFloat(type, null, segment.address() + (long) i * type.bytes(), numbers[i]);
      }
    }
    MemorySegment plain = memory(start + bytes).asSlice(start).copyFrom(segment);
    places.put(operand, new Place(segment, plain, (long) apart * type.bytes()));
  }

  /** Of float16 a subnormal one, too, where the float32 is subnormal. */
  private static float number(int pattern, ElementType type) {
    boolean subnormal = (pattern & 0x7f800000) == 0;
    return type == ElementType.FLOAT16 && subnormal
        ? Float.float16ToFloat((short) (pattern >>> 13 & 0x3ff))
        : Float.intBitsToFloat(pattern);
  }

  /** With digits that float32 has not; those of subnormal numbers are subnormal, too. */
  private double[] doubles(float[] numbers) {
    double[] doubles = new double[numbers.length];
    for (int i = 0; i < doubles.length; i++) {
      boolean subnormal = Math.abs(numbers[i]) < Float.MIN_NORMAL;
      doubles[i] = subnormal ? numbers[i] * 0x1p-896 : numbers[i] / 3.0;
      doubles[i] = Double.isNaN(doubles[i]) && bad < rows - 1 ? 0x1p600 : doubles[i];
    }
    return doubles;
  }

  /** Draws a column, and points both frames at it. */
  void add(Tensor column, ElementType type, MachineFrame machineFrame, Frame frame) {
    float[] numbers = new float[width];
    for (int i = 0; i < width; i++) {
      numbers[i] = Float.intBitsToFloat(pattern(i));
    }
    frame.point(column, type == ElementType.FLOAT64 ? doubles(numbers) : numbers);
    MemorySegment segment = memory((long) width * type.bytes());
    machineFrame.point(column, segment.copyFrom(plainColumn(column, frame)).address());
    columns.put(column, segment);
  }

  /** Points both frames at the rows. */
  void place(MachineFrame machineFrame, Frame frame) {
    int i = 0;
    for (Map.Entry<Tensor, Place> entry : places.entrySet()) {
      Tensor operand = entry.getKey();
      Place place = entry.getValue();
      bases[i] = pattern(i);
      machineFrame.place(operand, null, place.tried.address() - bases[i], place.stride);
      machineFrame.jump(operand, 0);
      frame.place(operand, null, place.plain.address(), place.stride);
      i++;
    }
  }

  private static MemorySegment plainColumn(Tensor column, Frame frame) {
    return ColumnMemory.segment(frame.base[column.slot()]);
  }

  /** Whether both have the same bits in the first n rows, and in all columns. */
  boolean areSame(int n, Frame frame) {
    boolean same = true;
    for (Place place : places.values()) {
      same &= place.isSame(n);
    }
    for (Map.Entry<Tensor, MemorySegment> column : columns.entrySet()) {
      same &= column.getValue().mismatch(plainColumn(column.getKey(), frame)) < 0;
    }
    return same;
  }
}
