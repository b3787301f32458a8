package io.github.rmsnorm4j.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.cuda.CudaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

/**
 * A device's primary context, which all libraries in a process share, and what was made in it here.
 * Any thread may use it.
 */
public final class CudaContext {
  private static final int CLOSED = -1;
  private static final long RELEASE_NANOS = 100_000;

  private final DriverLibrary library;
  private final int device;
  private final int sharedBytes;
  private final String name;
  private final MemorySegment handle;

  /** Where the driver writes which context it popped; nobody reads it. */
  private final MemorySegment popped = Arena.ofAuto().allocate(JAVA_LONG);

  private final Launches launches = new Launches();
  private final Set<Resource> resources = ConcurrentHashMap.newKeySet();
  private final Map<String, PtxModule> modules = new ConcurrentHashMap<>();

  /** Calls at work, or {@link #CLOSED}. */
  private final AtomicInteger calls = new AtomicInteger();

  /** Resources whose giving back has begun, and those where it has ended. */
  private final AtomicLong releasesBegun = new AtomicLong();

  private final AtomicLong releasesEnded = new AtomicLong();

  private volatile CudaException lost;

  /**
   * Retains the context.
   *
   * @param index the number of the device, from 0 on
   * @param name how messages call it, such as {@code device 0 (NVIDIA H100)}
   */
  public CudaContext(DriverLibrary library, int index, String name) {
    this.library = library;
    this.name = name;
    this.device = (int) library.ask(EntryPoint.DEVICE_GET, index);
    this.sharedBytes = SharedMemory.ofBlock(library, device);
    this.handle =
        MemorySegment.ofAddress(library.ask(EntryPoint.DEVICE_PRIMARY_CTX_RETAIN, device));
  }

  /** The bytes of shared memory that a kernel's block of threads may have. */
  public int sharedBytes() {
    return sharedBytes;
  }

  /** Whether memory and streams of the other one can be used here. */
  public boolean isSameAs(CudaContext other) {
    return handle.equals(other.handle);
  }

  /** Whether it is the context with this handle, a {@code CUcontext}. */
  public boolean hasHandle(long other) {
    return handle.address() == other;
  }

  MemorySegment handle() {
    return handle;
  }

  Launches launches() {
    return launches;
  }

  /**
   * Calls a function with this context current.
   *
   * @throws IllegalStateException if the device is closed
   * @throws CudaException if the function fails, or the context was lost before
   */
  public void call(EntryPoint entry, Object... arguments) {
    callDuring("", entry, arguments);
  }

  /** Calls a function; the message of a failure goes on with the circumstances. */
  void callDuring(String circumstances, EntryPoint entry, Object... arguments) {
    int code = result(entry, arguments);
    if (code != 0) {
      throw failure(entry, code, circumstances);
    }
  }

  /**
   * Calls a function that writes one number, which is its first argument.
   *
   * @return the number; its upper half is 0 where the function writes 32 bits
   */
  public long ask(EntryPoint entry, Object... otherArguments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment cell = arena.allocate(JAVA_LONG);
      call(entry, DriverLibrary.withFirst(cell, otherArguments));
      return cell.get(JAVA_LONG, 0);
    }
  }

  /** Calls a function with this context current and returns its {@code CUresult}. */
  int result(EntryPoint entry, Object... arguments) {
    MethodHandle function = library.function(entry); // may block, so not with the context current
    return counted(() -> DriverLibrary.invoke(function, arguments));
  }

  /** Starts a kernel and returns the {@code CUresult}. */
  int launch(MemorySegment kernel, LaunchShape shape, MemorySegment stream, MemorySegment list) {
    return counted(() -> library.launch(kernel, shape, stream, list));
  }

  /** Refuses to go on when it is closed: what was allocated here is freed then. */
  public void requireOpen() {
    if (calls.get() == CLOSED) {
      throw closed();
    }
  }

  private IllegalStateException closed() {
    return new IllegalStateException(name + " is closed");
  }

  private int counted(IntSupplier call) {
    if (calls.getAndUpdate(n -> n == CLOSED ? CLOSED : n + 1) == CLOSED) {
      throw closed();
    }
    try {
      CudaException before = lost;
      if (before != null) {
        throw new CudaException(before, name + " was lost before: " + before.getMessage());
      }
      return withCurrent(call);
    } finally {
      calls.decrementAndGet();
    }
  }

  /** Nothing in here may block: see the package. */
  private int withCurrent(IntSupplier call) {
    int pushed = library.push(handle);
    if (pushed != 0) {
      throw failure(EntryPoint.CTX_PUSH_CURRENT, pushed, "");
    }
    try {
      return call.getAsInt();
    } finally {
      library.pop(popped);
    }
  }

  CudaException failure(EntryPoint entry, int code, String circumstances) {
    if (!LostContext.isSaidBy(code)) {
      return library.failure(entry, code, circumstances + ", on " + name);
    }
    List<String> unfinished = launches.unfinished();
    String failed =
        switch (unfinished.size()) {
          case 0 -> "";
          case 1 -> ", after " + unfinished.getFirst();
          default -> ", after one of these: " + String.join("; ", unfinished);
        };
    CudaException error = library.failure(entry, code, failed + ", on " + name);
    CudaException fatal =
        new CudaException(
            error,
            error.getMessage()
                + ". What is on the device is lost, and this process cannot use the device again");
    lost = fatal;
    return fatal;
  }

  /** Records what the driver made here and gets back by a function that takes its handle alone. */
  Resource own(EntryPoint release, Object resource) {
    Resource owned = new Resource(this, release, resource);
    resources.add(owned);
    return owned;
  }

  boolean owns(Resource resource) {
    return resources.contains(resource);
  }

  /** In a lost context there is nothing left to be given back. */
  void release(Resource resource) {
    releasesBegun.incrementAndGet();
    try {
      releaseOnce(resource);
    } finally {
      releasesEnded.incrementAndGet();
    }
  }

  private void releaseOnce(Resource resource) {
    if (!resources.remove(resource) || lost != null) {
      return;
    }
    try {
      if (resource.isMemory()) {
        // The documentation only says that the driver may wait for work that uses the memory.
        long started = launches.count();
        call(EntryPoint.CTX_SYNCHRONIZE);
        launches.finished(started);
      }
    } finally {
      if (lost == null) {
        call(resource.release(), resource.handle());
      }
    }
  }

  /**
   * A module of kernels, which is compiled when it is first asked for.
   *
   * @param ptx the text of the module
   */
  public PtxModule module(String ptx) {
    return modules.computeIfAbsent(ptx, text -> PtxModule.load(this, text));
  }

  /**
   * Gives everything back that was made here, and the context.
   *
   * @throws IllegalStateException if a call is at work, or pinned memory of the host is in use
   * @throws CudaException if a kernel that was still at work failed
   */
  public void close() {
    if (resources.stream().anyMatch(Resource::isHostMemory)) {
      throw new IllegalStateException(
          name + " has pinned memory of the host in use, its arena must be closed first");
    }
    while (true) {
      long begun = releasesBegun.get();
      boolean releases = releasesEnded.get() != begun;
      if (!releases && calls.compareAndSet(0, CLOSED)) {
        break;
      }
      if (calls.get() == CLOSED) {
        return;
      }
      if (!releases && releasesBegun.get() == begun) {
        throw new IllegalStateException(name + " is in use by another thread");
      }
      // The garbage collector frees the memory of automatic arenas when it likes.
      LockSupport.parkNanos(RELEASE_NANOS);
    }
    CudaException first = lost == null ? failureOf(EntryPoint.CTX_SYNCHRONIZE) : null;
    for (Resource resource : resources) {
      if (lost == null) {
        CudaException next = failureOf(resource.release(), resource.handle());
        first = first == null ? next : first;
      }
    }
    resources.clear();
    library.call(EntryPoint.DEVICE_PRIMARY_CTX_RELEASE, device);
    if (first != null) {
      throw first;
    }
  }

  /** Null if it does not fail. */
  private CudaException failureOf(EntryPoint entry, Object... arguments) {
    MethodHandle function = library.function(entry);
    try {
      int code = withCurrent(() -> DriverLibrary.invoke(function, arguments));
      return code == 0 ? null : failure(entry, code, "");
    } catch (CudaException e) { // the context is gone
      return e;
    }
  }

  /** For example {@code device 0 (NVIDIA H100)}. */
  @Override
  public String toString() {
    return name;
  }
}
