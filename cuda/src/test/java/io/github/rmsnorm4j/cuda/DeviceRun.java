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
import java.util.concurrent.ConcurrentHashMap;

/** Launches kernels on the interpreter. */
final class DeviceRun {
  private static final Map<String, PtxProgram> PROGRAMS = new ConcurrentHashMap<>();

  final GlobalMemory memory = new GlobalMemory();

  /** More than any call of the tests needs. */
  private static final long MOST_WORK = 4_000_000_000L;

  final Work work;
  private final boolean reversed;

  DeviceRun(boolean reversed) {
    this(reversed, MOST_WORK);
  }

  DeviceRun(boolean reversed, long mostWork) {
    this.reversed = reversed;
    work = new Work(mostWork);
  }

  /**
   * What a block of threads may have: on half of the devices as little as on every one, on the
   * others a third of an H200's multiprocessor.
   */
  int sharedBytes() {
    return reversed ? 75 << 10 : SharedMemory.LEAST;
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
