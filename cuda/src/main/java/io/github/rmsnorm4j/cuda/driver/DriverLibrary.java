package io.github.rmsnorm4j.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.cuda.CudaException;
import io.github.rmsnorm4j.cuda.CudaVersion;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The driver's library, loaded, with its functions. Any thread may call them. */
public final class DriverLibrary {
  private static final int SUCCESS = 0;

  /** What each launch calls, as constants for the JIT compiler; they take the address first. */
  private static final class Constant {
    static final MethodHandle LAUNCH = ofAnyAddress(EntryPoint.LAUNCH_KERNEL);
    static final MethodHandle PUSH = ofAnyAddress(EntryPoint.CTX_PUSH_CURRENT);
    static final MethodHandle POP = ofAnyAddress(EntryPoint.CTX_POP_CURRENT);

    @SuppressWarnings("restricted")
    private static MethodHandle ofAnyAddress(EntryPoint entry) {
      return Linker.nativeLinker().downcallHandle(entry.type());
    }
  }

  private final Map<EntryPoint, MemorySegment> addresses;

  /** Made when they are first needed: each takes some milliseconds. */
  private final Map<EntryPoint, MethodHandle> functions = new ConcurrentHashMap<>();

  private final MemorySegment launch;
  private final MemorySegment push;
  private final MemorySegment pop;
  private final CudaVersion version;

  private DriverLibrary(Map<EntryPoint, MemorySegment> addresses, CudaVersion version) {
    this.addresses = addresses;
    this.launch = addresses.get(EntryPoint.LAUNCH_KERNEL);
    this.push = addresses.get(EntryPoint.CTX_PUSH_CURRENT);
    this.pop = addresses.get(EntryPoint.CTX_POP_CURRENT);
    this.version = version;
  }

  /** The name of the library, which a system property may give. */
  public static String name() {
    return System.getProperty("rmsnorm4j.cuda.library", "libcuda.so.1");
  }

  /**
   * Loads the library and starts the driver.
   *
   * @param name a file, or a name that the system's loader finds
   * @param needed the least version of CUDA that the driver must support
   * @throws DriverUnavailable if that cannot be done
   */
  @SuppressWarnings("restricted")
  public static DriverLibrary load(String name, CudaVersion needed) throws DriverUnavailable {
    SymbolLookup symbols;
    try {
      symbols = SymbolLookup.libraryLookup(name, Arena.global());
    } catch (IllegalArgumentException e) {
      throw new DriverUnavailable(
          name + " cannot be loaded: it comes with the driver of an NVIDIA GPU");
    } catch (IllegalCallerException e) {
      throw new DriverUnavailable(
          "native access is denied: the JVM needs --enable-native-access=io.github.rmsnorm4j.cuda,"
              + " or =ALL-UNNAMED on the class path");
    }
    CudaVersion version = version(name, symbols, needed);
    Map<EntryPoint, MemorySegment> addresses = new EnumMap<>(EntryPoint.class);
    for (EntryPoint entry : EntryPoint.values()) {
      addresses.put(entry, address(name, symbols, entry));
    }
    DriverLibrary library = new DriverLibrary(addresses, version);
    int started = library.call(EntryPoint.INIT, 0);
    if (started != SUCCESS) {
      throw new DriverUnavailable(library.failure(EntryPoint.INIT, started, "").getMessage());
    }
    return library;
  }

  /** An old driver lacks other functions, so its version is asked first. */
  private static CudaVersion version(String name, SymbolLookup symbols, CudaVersion needed)
      throws DriverUnavailable {
    EntryPoint entry = EntryPoint.DRIVER_GET_VERSION;
    MethodHandle function = function(entry, address(name, symbols, entry));
    CudaVersion version;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment cell = arena.allocate(JAVA_LONG);
      int result = invoke(function, cell);
      if (result != SUCCESS) {
        throw new DriverUnavailable(entry.symbol() + " of " + name + " failed with " + result);
      }
      int number = (int) cell.get(JAVA_LONG, 0);
      version = new CudaVersion(number / 1000, number % 1000 / 10);
    }
    if (version.compareTo(needed) < 0) {
      throw new DriverUnavailable(
          "the driver supports CUDA "
              + version
              + ", it must support CUDA "
              + needed
              + " or newer: install a newer NVIDIA driver");
    }
    return version;
  }

  private static MemorySegment address(String name, SymbolLookup symbols, EntryPoint entry)
      throws DriverUnavailable {
    return symbols
        .find(entry.symbol())
        .orElseThrow(() -> new DriverUnavailable(name + " has no function " + entry.symbol()));
  }

  @SuppressWarnings("restricted")
  private static MethodHandle function(EntryPoint entry, MemorySegment address) {
    MethodHandle exact = Linker.nativeLinker().downcallHandle(address, entry.type());
    return exact
        .asSpreader(Object[].class, exact.type().parameterCount())
        .asType(MethodType.methodType(int.class, Object[].class));
  }

  /** The newest version of CUDA that the driver supports. */
  public CudaVersion version() {
    return version;
  }

  /** Calls a function with arguments of its types, and returns its {@code CUresult}. */
  int call(EntryPoint entry, Object... arguments) {
    return invoke(function(entry), arguments);
  }

  MethodHandle function(EntryPoint entry) {
    return functions.computeIfAbsent(entry, e -> function(e, addresses.get(e)));
  }

  static int invoke(MethodHandle function, Object... arguments) {
    try {
      return (int) function.invokeExact(arguments);
    } catch (Throwable e) {
      throw thrownBy(e);
    }
  }

  int push(MemorySegment context) {
    try {
      return (int) Constant.PUSH.invokeExact(push, context);
    } catch (Throwable e) {
      throw thrownBy(e);
    }
  }

  int pop(MemorySegment popped) {
    try {
      return (int) Constant.POP.invokeExact(pop, popped);
    } catch (Throwable e) {
      throw thrownBy(e);
    }
  }

  /** Starts a kernel whose parameters are a list that names a buffer. */
  int launch(MemorySegment kernel, LaunchShape shape, MemorySegment stream, MemorySegment list) {
    try {
      return (int)
          Constant.LAUNCH.invokeExact(
              launch,
              kernel,
              shape.blocks(),
              1,
              1,
              shape.threads(),
              1,
              1,
              shape.sharedBytes(),
              stream,
              MemorySegment.NULL,
              list);
    } catch (Throwable e) {
      throw thrownBy(e);
    }
  }

  /** A native call itself throws nothing, but an argument may be memory that is closed. */
  private static RuntimeException thrownBy(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return (RuntimeException) e;
  }

  /** Calls a function that needs no context, and throws if it fails. */
  public void check(EntryPoint entry, Object... arguments) {
    int result = call(entry, arguments);
    if (result != SUCCESS) {
      throw failure(entry, result, "");
    }
  }

  /**
   * Calls a function that needs no context and writes one number, which is its first argument.
   *
   * @return the number; its upper half is 0 where the function writes 32 bits
   */
  public long ask(EntryPoint entry, Object... otherArguments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment cell = arena.allocate(JAVA_LONG);
      check(entry, withFirst(cell, otherArguments));
      return cell.get(JAVA_LONG, 0);
    }
  }

  static Object[] withFirst(Object first, Object[] others) {
    Object[] all = new Object[others.length + 1];
    all[0] = first;
    System.arraycopy(others, 0, all, 1, others.length);
    return all;
  }

  /** What a result other than 0 means, where the driver knows; the driver has the texts. */
  CudaException failure(EntryPoint entry, int result, String circumstances) {
    String name = text(EntryPoint.GET_ERROR_NAME, result, "an error that the driver does not name");
    String meaning = text(EntryPoint.GET_ERROR_STRING, result, "");
    return new CudaException(
        result,
        name,
        "%s: %s (%s)%s%s"
            .formatted(
                entry.symbol(),
                name,
                result,
                meaning.isEmpty() ? "" : ", " + meaning,
                circumstances));
  }

  @SuppressWarnings("restricted")
  private String text(EntryPoint entry, int result, String otherwise) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment cell = arena.allocate(ADDRESS);
      if (call(entry, result, cell) != SUCCESS) {
        return otherwise;
      }
      MemorySegment text = cell.get(ADDRESS, 0);
      return text.address() == 0
          ? otherwise
          : text.reinterpret(Long.MAX_VALUE).getString(0).strip();
    }
  }
}
