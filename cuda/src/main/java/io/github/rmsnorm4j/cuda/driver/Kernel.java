package io.github.rmsnorm4j.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/** A kernel on a device. Any thread may launch it. */
public final class Kernel {
  // Of CUfunction_attribute.
  private static final int MAX_THREADS_PER_BLOCK = 0;
  private static final int LOCAL_SIZE_BYTES = 3;
  private static final int NUM_REGS = 4;
  private static final int MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;

  // Of the list of a launch.
  private static final long END = 0;
  private static final long BUFFER_POINTER = 1;
  private static final long BUFFER_SIZE = 2;

  private final CudaContext context;
  private final String name;
  private final MemorySegment function;
  private final int maxThreads;

  Kernel(CudaContext context, String name, MemorySegment function) {
    this.context = context;
    this.name = name;
    this.function = function;
    this.maxThreads = attribute(MAX_THREADS_PER_BLOCK);
    if (context.sharedBytes() > SharedMemory.LEAST) {
      context.call(
          EntryPoint.FUNC_SET_ATTRIBUTE,
          function,
          MAX_DYNAMIC_SHARED_SIZE_BYTES,
          context.sharedBytes());
    }
  }

  /** {@return the name of its {@code .entry}} */
  public String name() {
    return name;
  }

  /** {@return the registers of a thread, as the driver compiled it} */
  public int registers() {
    return attribute(NUM_REGS);
  }

  /** {@return the bytes of a thread that are in memory since registers did not suffice} */
  public int localBytes() {
    return attribute(LOCAL_SIZE_BYTES);
  }

  private int attribute(int attribute) {
    return (int) context.ask(EntryPoint.FUNC_GET_ATTRIBUTE, attribute, function);
  }

  /**
   * Starts the kernel behind the other work of a stream, and does not wait for it.
   *
   * @param parameters their values, each at the place that PTX gives it: in the order of the
   *     declarations, aligned to its size, in the byte order of the machine. They are read before
   *     this returns
   * @param call describes the call of the library that needs the kernel; it is asked only if a
   *     kernel fails, then by whichever thread notices. It is kept for a while, so it should not
   *     keep memory reachable
   * @throws IllegalArgumentException if the stream is in another context, or the block is too large
   *     for the kernel
   */
  public void launch(LaunchShape shape, Stream stream, byte[] parameters, Supplier<String> call) {
    if (!stream.context().isSameAs(context)) {
      throw new IllegalArgumentException(
          "kernel " + name + " is on " + context + ", the stream is on " + stream.context());
    }
    if (shape.threads() > maxThreads) {
      throw new IllegalArgumentException(
          "kernel %s: %s threads a block, %s allows %s"
              .formatted(name, shape.threads(), context, maxThreads));
    }
    MemorySegment handle = stream.handle();
    Runnable takeBack = context.launches().add(handle, name, call);
    int code;
    try (Arena arena = Arena.ofConfined()) {
      code = context.launch(function, shape, handle, list(parameters, arena));
    }
    if (code != 0) {
      takeBack.run();
      throw context.failure(
          EntryPoint.LAUNCH_KERNEL, code, ", for kernel " + name + " of " + call.get());
    }
  }

  /** The list that names a buffer of parameters and its size, followed by both. */
  private static MemorySegment list(byte[] parameters, Arena arena) {
    long size = 5 * Long.BYTES;
    long values = size + Long.BYTES;
    MemorySegment list = arena.allocate(values + parameters.length, Long.BYTES);
    list.setAtIndex(JAVA_LONG, 0, BUFFER_POINTER);
    list.setAtIndex(JAVA_LONG, 1, list.address() + values);
    list.setAtIndex(JAVA_LONG, 2, BUFFER_SIZE);
    list.setAtIndex(JAVA_LONG, 3, list.address() + size);
    list.setAtIndex(JAVA_LONG, 4, END);
    list.set(JAVA_LONG, size, parameters.length);
    MemorySegment.copy(parameters, 0, list, JAVA_BYTE, values, parameters.length);
    return list;
  }
}
