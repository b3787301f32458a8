package io.github.rmsnorm4j.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;

/**
 * A driver without a device, which src/test/c/stub.c is. Memory of its devices is memory of this
 * process, and a kernel is run by a {@link StubLaunch.Device} before its launch returns, or when it
 * is waited for. There is one for the process; each test begins with {@link #fresh}.
 */
@SuppressWarnings("restricted")
public final class StubDriver {
  private static final AddressLayout TEXT =
      ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(1L << 24, JAVA_BYTE));
  private static final MemorySegment CALLBACK = callback();

  private static volatile StubLaunch.Device device;
  private static volatile Throwable thrown;

  private final String library;
  private final SymbolLookup symbols;

  private StubDriver(String library) {
    this.library = library;
    this.symbols = SymbolLookup.libraryLookup(library, Arena.global());
  }

  /**
   * The driver as it is after a start: one device of compute capability 9.0 with 1 GiB of memory,
   * CUDA 12.4. Skips the test where there is no gcc.
   */
  public static StubDriver fresh(String... options) {
    StubDriver stub = new StubDriver(StubCompiler.library(options).toString());
    device = launch -> 0;
    thrown = null;
    stub.call("stub_reset");
    stub.call("stub_on_launch", CALLBACK);
    return stub;
  }

  /** The file of the library. */
  public String library() {
    return library;
  }

  /** How many devices there are, 0 to 4. */
  public void devices(int count) {
    call("stub_devices", count);
  }

  /** What a device is. */
  public void device(int index, int major, int minor, long memoryBytes) {
    call("stub_device", index, major, minor, memoryBytes);
  }

  /** The number that the driver says, such as 12040. */
  public void driverVersion(int number) {
    call("stub_driver_version", number);
  }

  /** From now on functions only write down their format and arguments. */
  public void echo() {
    call("stub_echo", 1);
  }

  /** The next call of a function will return an error, or the one after some more. */
  public void fail(EntryPoint entry, int callsBefore, int code) {
    try (Arena arena = Arena.ofConfined()) {
      call("stub_fail", arena.allocateFrom(entry.symbol()), callsBefore, code);
    }
  }

  /**
   * From now on work on a stream is done only when a call waits for that stream, or for all: a
   * caller that forgets to wait sees old bytes.
   */
  public void lazy() {
    call("stub_lazy", 1);
  }

  /** The next kernel will fail with an error that the call after its launch sees. */
  public void failKernel(int code) {
    call("stub_fail_kernel", code);
  }

  /** What runs the kernels; without, they do nothing. */
  public void onLaunch(StubLaunch.Device runner) {
    device = runner;
  }

  /** Each call since the start, such as {@code cuMemFree_v2(0x7f0012340000)}. */
  public List<String> calls() {
    String text = text("stub_calls");
    call("stub_forget_calls");
    return text.lines().toList();
  }

  /** The calls of one function since the start. */
  public List<String> calls(EntryPoint entry) {
    return calls().stream().filter(call -> call.startsWith(entry.symbol() + "(")).toList();
  }

  /** What was not given back, in words; nothing if all was. */
  public String leaks() {
    return text("stub_leaks").strip();
  }

  /**
   * The allocation of a device that holds an address; its own address is where it starts. Empty if
   * there is none.
   */
  public MemorySegment allocationAt(long address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment start = arena.allocate(JAVA_LONG);
      long bytes = (long) call(JAVA_LONG, "stub_allocation", address, start);
      return MemorySegment.ofAddress(start.get(JAVA_LONG, 0)).reinterpret(bytes);
    }
  }

  /** From now on memory at an address is of another context of its device; of none for 0. */
  public void moveToContext(long address, long context) {
    call("stub_memory_of", address, MemorySegment.ofAddress(context));
  }

  /** Contexts on the stack of this thread of the operating system. */
  public int contextsOfThread() {
    return (int) call(JAVA_INT, "stub_depth");
  }

  /** Throws what a {@link StubLaunch.Device} threw, which no native code could pass on. */
  public void rethrow() throws Throwable {
    if (thrown != null) {
      throw thrown;
    }
  }

  private String text(String function) {
    return ((MemorySegment) call(TEXT, function)).getString(0);
  }

  private void call(String function, Object... arguments) {
    call(null, function, arguments);
  }

  private Object call(MemoryLayout result, String function, Object... arguments) {
    MemoryLayout[] layouts = new MemoryLayout[arguments.length];
    for (int i = 0; i < layouts.length; i++) {
      layouts[i] =
          arguments[i] instanceof Integer
              ? JAVA_INT
              : arguments[i] instanceof Long ? JAVA_LONG : ADDRESS;
    }
    FunctionDescriptor type =
        result == null
            ? FunctionDescriptor.ofVoid(layouts)
            : FunctionDescriptor.of(result, layouts);
    try {
      return Linker.nativeLinker()
          .downcallHandle(symbols.findOrThrow(function), type)
          .invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  private static MemorySegment callback() {
    List<MemoryLayout> layouts = new ArrayList<>(List.of(TEXT, TEXT));
    for (int i = 0; i < 7; i++) {
      layouts.add(JAVA_INT);
    }
    layouts.addAll(List.of(ADDRESS, JAVA_LONG));
    FunctionDescriptor type = FunctionDescriptor.of(JAVA_INT, layouts.toArray(MemoryLayout[]::new));
    try {
      MethodType java = type.toMethodType();
      return Linker.nativeLinker()
          .upcallStub(
              MethodHandles.lookup().findStatic(StubDriver.class, "launch", java),
              type,
              Arena.global());
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** The stub calls this; nothing may be thrown through it. */
  private static int launch(
      MemorySegment ptx,
      MemorySegment kernel,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      MemorySegment parameters,
      long bytes) {
    try {
      return device.run(
          new StubLaunch(
              ptx.getString(0),
              kernel.getString(0),
              List.of(gridX, gridY, gridZ),
              List.of(blockX, blockY, blockZ),
              sharedBytes,
              parameters.reinterpret(bytes)));
    } catch (Throwable e) {
      thrown = e;
      return 719;
    }
  }
}
