package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.driver.LaunchShape;
import io.github.rmsnorm4j.cuda.driver.SharedMemory;
import io.github.rmsnorm4j.cuda.interpret.GlobalMemory;
import io.github.rmsnorm4j.cuda.interpret.Grid;
import io.github.rmsnorm4j.cuda.interpret.PtxProgram;
import io.github.rmsnorm4j.cuda.interpret.Work;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;

/** Launches kernels on the interpreter. */
final class DeviceRun {
  private static final Map<String, PtxProgram> PROGRAMS = new ConcurrentHashMap<>();

  /** A third of an H200's multiprocessor. */
  private static final int H200 = 75 << 10;

  final GlobalMemory memory = new GlobalMemory();

  /** More than any call of the tests needs. */
  private static final long MOST_WORK = 4_000_000_000L;

  final Work work;
  private final boolean reversed;
  private final int sharedBytes;

  /** In one order or the other, with as little shared memory as any device has or as an H200. */
  DeviceRun(SplittableRandom random) {
    this(random.nextBoolean(), random.nextBoolean() ? H200 : SharedMemory.LEAST, MOST_WORK);
  }

  DeviceRun() {
    this(MOST_WORK);
  }

  DeviceRun(long mostWork) {
    this(false, SharedMemory.LEAST, mostWork);
  }

  private DeviceRun(boolean reversed, int sharedBytes, long mostWork) {
    this.reversed = reversed;
    this.sharedBytes = sharedBytes;
    work = new Work(mostWork);
  }

  /** What a block of threads may have. */
  int sharedBytes() {
    return sharedBytes;
  }

  static PtxProgram program(String text) {
    return PROGRAMS.computeIfAbsent(text, PtxProgram::of);
  }

  /** Rows in the memory of the device. */
  DeviceRows rows(String name, TestRows rows, boolean readOnly) {
    return rows.at(memory.allocate(name, rows.bytes(), readOnly));
  }

  /** The address of numbers of a type. */
  long numbers(String name, double[] numbers, ElementType type) {
    TestRows column = TestRows.of(type, 1, numbers.length, 0, 0);
    for (int i = 0; i < numbers.length; i++) {
      column.set(0, i, numbers[i]);
    }
    return rows(name, column, true).address();
  }

  /** Bytes for float64 numbers that a kernel writes. */
  static byte[] doubles(int count) {
    return new byte[count * Double.BYTES];
  }

  static double[] values(byte[] doubles) {
    double[] values = new double[doubles.length / Double.BYTES];
    DoubleBuffer buffer = ByteBuffer.wrap(doubles).order(ByteOrder.nativeOrder()).asDoubleBuffer();
    buffer.get(values);
    return values;
  }

  void launch(List<KernelCall> calls) {
    for (KernelCall call : calls) {
      launch(call.kernel().text(), call);
    }
  }

  /** Launches a text in place of the kernel. */
  void launch(String text, KernelCall call) {
    LaunchShape shape = call.shape();
    if (shape.sharedBytes() > sharedBytes) {
      throw new AssertionError(shape + ": a block may have " + sharedBytes + " bytes");
    }
    new Grid(
            program(text),
            memory,
            shape.blocks(),
            shape.threads(),
            shape.sharedBytes(),
            call.parameters(),
            reversed,
            work)
        .run();
  }
}
