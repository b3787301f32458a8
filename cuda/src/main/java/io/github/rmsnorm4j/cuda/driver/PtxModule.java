package io.github.rmsnorm4j.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** A text in PTX, compiled by the driver for the device; {@link CudaContext#module} makes it. */
public final class PtxModule {
  private static final int LOG_BYTES = 8192;

  // Of CUjit_option.
  private static final int ERROR_LOG_BUFFER = 5;
  private static final int ERROR_LOG_BUFFER_SIZE_BYTES = 6;

  private final CudaContext context;
  private final MemorySegment handle;
  private final Map<String, Kernel> kernels = new ConcurrentHashMap<>();

  private PtxModule(CudaContext context, MemorySegment handle) {
    this.context = context;
    this.handle = handle;
  }

  /** Compiles a text; the log of the compiler is in the message of a failure. */
  static PtxModule load(CudaContext context, String ptx) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment module = arena.allocate(ADDRESS);
      MemorySegment log = arena.allocate(LOG_BYTES);
      MemorySegment options =
          arena.allocateFrom(JAVA_INT, ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_SIZE_BYTES);
      MemorySegment values = arena.allocateFrom(JAVA_LONG, log.address(), LOG_BYTES);
      int code =
          context.result(
              EntryPoint.MODULE_LOAD_DATA_EX, module, arena.allocateFrom(ptx), 2, options, values);
      if (code != 0) {
        throw context.failure(
            EntryPoint.MODULE_LOAD_DATA_EX, code, log.get(JAVA_BYTE, 0) == 0 ? "" : oneLine(log));
      }
      MemorySegment handle = module.get(ADDRESS, 0);
      context.own(EntryPoint.MODULE_UNLOAD, handle);
      return new PtxModule(context, handle);
    }
  }

  private static String oneLine(MemorySegment log) {
    // The driver may fill the buffer without an end.
    log.set(JAVA_BYTE, LOG_BYTES - 1, (byte) 0);
    return log.getString(0)
        .lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty())
        .collect(Collectors.joining("; ", ": ", ""));
  }

  /**
   * A kernel of the module.
   *
   * @param name of its {@code .entry}
   */
  public Kernel kernel(String name) {
    return kernels.computeIfAbsent(name, this::find);
  }

  private Kernel find(String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment cell = arena.allocate(ADDRESS);
      context.callDuring(
          ", for kernel " + name,
          EntryPoint.MODULE_GET_FUNCTION,
          cell,
          handle,
          arena.allocateFrom(name));
      return new Kernel(context, name, cell.get(ADDRESS, 0));
    }
  }
}
