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

/** The driver's library, loaded, with its functions. Any thread may call them. */
public final class DriverLibrary {
  private static final int SUCCESS = 0;

  private final Map<EntryPoint, MethodHandle> functions;
  private final CudaVersion version;

  private DriverLibrary(Map<EntryPoint, MethodHandle> functions, CudaVersion version) {
    this.functions = functions;
    this.version = version;
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
    Map<EntryPoint, MethodHandle> functions = new EnumMap<>(EntryPoint.class);
    for (EntryPoint entry : EntryPoint.values()) {
      functions.put(entry, function(name, symbols, entry));
    }
    DriverLibrary library = new DriverLibrary(functions, version);
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
    MethodHandle function = function(name, symbols, entry);
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

  @SuppressWarnings("restricted")
  private static MethodHandle function(String name, SymbolLookup symbols, EntryPoint entry)
      throws DriverUnavailable {
    MemorySegment address =
        symbols
            .find(entry.symbol())
            .orElseThrow(() -> new DriverUnavailable(name + " has no function " + entry.symbol()));
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
    return invoke(functions.get(entry), arguments);
  }

  private static int invoke(MethodHandle function, Object... arguments) {
    try {
      return (int) function.invokeExact(arguments);
    } catch (RuntimeException | Error e) {
      throw e; // of an argument: memory that is closed, or another thread's
    } catch (Throwable e) {
      throw new AssertionError("a native call throws no checked exception", e);
    }
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
        "%s: %s (%d)%s%s"
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
