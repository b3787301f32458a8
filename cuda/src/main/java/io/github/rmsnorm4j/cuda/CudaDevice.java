package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.cuda.driver.Allocation;
import io.github.rmsnorm4j.cuda.driver.CudaContext;
import io.github.rmsnorm4j.cuda.driver.DriverLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * An NVIDIA GPU, opened.
 *
 * <pre>{@code
 * try (CudaDevice device =
 *         CudaDevice.open().orElseThrow(() -> new IllegalStateException(CudaDevice.missing().get()));
 *     CudaStream stream = device.stream();
 *     Arena arena = Arena.ofConfined()) {
 *   CudaNorm norm = device.norm(RmsNorm.builder(4096).gain(gain).build(), arena).on(stream);
 *   CudaRows x = CudaRows.of(device.allocate(bytes, arena), ElementType.BFLOAT16, rows, 4096);
 *   ...
 *   norm.apply(x, x);
 * }
 * }</pre>
 *
 * <p>Nothing but the NVIDIA driver is needed: its library {@code libcuda.so.1} is loaded when this
 * class is first asked for a device. The system property {@code rmsnorm4j.cuda.library} names
 * another file. Where there is no driver or no device, {@link #open()} is empty and {@link
 * #missing()} says why; loading this class never fails. The JVM asks for {@code
 * --enable-native-access=io.github.rmsnorm4j.cuda}, or {@code =ALL-UNNAMED} on the class path.
 *
 * <p>A device that is opened is used through its primary context, which all libraries of a process
 * share. So its memory and streams can be passed to other libraries, and theirs can be wrapped. The
 * context that is current to a thread is left as it was.
 *
 * <p>Any number of threads may use a device, platform threads and virtual threads. A call that
 * waits for the device keeps the carrier of a virtual thread occupied. Only the thread that closes
 * the device must be the last to use it: {@link #close} refuses while a call is at work.
 *
 * <p>A fault of a kernel, such as an access to memory that was freed, loses the context. Then that
 * call and each later call on the device throw a {@link CudaException} with {@link
 * CudaException#isContextLost()}, and only a new process can use the device again. Other devices
 * and the rest of the process go on.
 */
public final class CudaDevice implements AutoCloseable {
  private final CudaDeviceInfo info;
  private final CudaContext context;

  CudaDevice(DriverLibrary library, CudaDeviceInfo info) {
    this.info = info;
    this.context = new CudaContext(library, info.index(), info.toString());
  }

  /**
   * {@return the first device on which norms can run, opened; empty if there is none, for the
   * reason that {@link #missing()} gives}
   *
   * @throws CudaException if the driver refuses the device
   */
  public static Optional<CudaDevice> open() {
    return CudaSystem.ofMachine().open();
  }

  /**
   * {@return a device by its number, opened; empty if there is no driver or no device, or norms
   * cannot run on this one, for the reason that its {@link CudaDeviceInfo#missing()} gives}
   *
   * @param index the number, from 0 on
   * @throws IllegalArgumentException if there are devices, but not with that number
   * @throws CudaException if the driver refuses the device
   */
  public static Optional<CudaDevice> open(int index) {
    return CudaSystem.ofMachine().open(index);
  }

  /**
   * {@return why {@link #open()} is empty, in one line: no driver, a driver or devices that are too
   * old, or no device; empty if a device can be opened}
   */
  public static Optional<String> missing() {
    return CudaSystem.ofMachine().missing();
  }

  /** {@return all devices that the driver sees, in its order; none if there is no driver} */
  public static List<CudaDeviceInfo> devices() {
    return CudaSystem.ofMachine().devices();
  }

  /**
   * {@return the newest version of CUDA that the driver supports; empty if there is no driver that
   * can be used}
   */
  public static Optional<CudaVersion> driverVersion() {
    return CudaSystem.ofMachine().driverVersion();
  }

  /** {@return what the driver says of this device} */
  public CudaDeviceInfo info() {
    return info;
  }

  /**
   * {@return the bytes of its memory that nothing uses}
   *
   * @throws IllegalStateException if the device is closed
   */
  public long freeBytes() {
    return Allocation.free(context);
  }

  /**
   * {@return new memory of the device, with any content}
   *
   * @param bytes its size, 0 or more; it begins at a multiple of 256
   * @param arena frees the memory when it is closed, after the device has done all work that was
   *     started before
   * @throws IllegalArgumentException if bytes is below 0
   * @throws IllegalStateException if the arena or the device is closed
   * @throws CudaException if not so much memory is free; the message has both numbers
   */
  public CudaMemory allocate(long bytes, Arena arena) {
    requireSize(bytes);
    return new CudaMemory(this, Allocation.ofDevice(context, bytes, arena));
  }

  /**
   * {@return new page-locked ("pinned") memory of the host, with any content} The device reads and
   * writes it itself, so {@link CudaMemory#copyFrom(MemorySegment, CudaStream)} and {@link
   * CudaMemory#copyTo(MemorySegment, CudaStream)} with it run beside the processor and beside
   * kernels of other streams. For Java it is native memory like any other. It is taken from the
   * memory that the system has for all its programs, so it should not be much.
   *
   * @param bytes its size, 0 or more
   * @param arena frees the memory when it is closed, after the device has done all work that was
   *     started before; the device cannot be closed earlier. So it must be an arena that can be
   *     closed
   * @throws IllegalArgumentException if bytes is below 0
   * @throws IllegalStateException if the arena or the device is closed
   * @throws WrongThreadException if the arena is confined to another thread
   * @throws CudaException if the system has not so much memory to lock; the message has the number
   */
  public MemorySegment allocatePinned(long bytes, Arena arena) {
    requireSize(bytes);
    return Allocation.ofPinnedHost(context, bytes, arena);
  }

  private static void requireSize(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("bytes is " + bytes + ", it must be at least 0");
    }
  }

  /**
   * {@return memory of this device that another library has allocated, which keeps it} It must stay
   * allocated while it is used here.
   *
   * @param address its first address, a {@code CUdeviceptr}
   * @param bytes its size, 1 or more
   * @throws IllegalArgumentException if the first or the last byte is no memory of this device:
   *     memory of the host, of another device or context, or not allocated
   * @throws IllegalStateException if the device is closed
   */
  public CudaMemory wrap(long address, long bytes) {
    return CudaMemory.wrap(this, address, bytes);
  }

  /**
   * {@return a new stream}
   *
   * @throws IllegalStateException if the device is closed
   */
  public CudaStream stream() {
    return CudaStream.create(this);
  }

  /**
   * {@return the default stream, for norms and copies that were given none} It waits for the work
   * that was started before on all streams of {@link #stream}, and they wait for it. Closing it
   * does nothing.
   *
   * @throws IllegalStateException if the device is closed
   */
  public CudaStream defaultStream() {
    return wrapStream(0);
  }

  /**
   * {@return a stream that another library has made, which keeps it} It must not be destroyed while
   * it is used here. Not every wrong handle can be recognised: a number that is no handle may end
   * the process.
   *
   * @param handle a {@code CUstream} of this device's primary context; 0 is the default stream
   * @throws IllegalArgumentException if it is a stream of another context
   * @throws CudaException if the driver notices that there is no such stream
   */
  public CudaStream wrapStream(long handle) {
    return CudaStream.wrap(this, handle);
  }

  /**
   * {@return a new event, which is not recorded yet}
   *
   * @throws IllegalStateException if the device is closed
   */
  public CudaEvent event() {
    return new CudaEvent(this);
  }

  /**
   * {@return a norm on this device, with a copy of its gain and bias in the device's memory} All
   * its choices are those of the norm of the CPU. Its threads and its backend do not matter here.
   *
   * @param norm an {@code RmsNorm}, a {@code LayerNorm} or an {@code L2Norm}
   * @param arena frees the copies when it is closed, after the device has done all work that was
   *     started before
   * @throws IllegalStateException if the arena or the device is closed
   * @throws CudaException if too little memory is free
   */
  public CudaNorm norm(Norm norm, Arena arena) {
    Objects.requireNonNull(norm, "norm is null");
    return new CudaNorm(this, norm, arena);
  }

  CudaContext context() {
    return context;
  }

  /** Whether memory and streams of the other one can be used here. */
  boolean isSameAs(CudaDevice other) {
    return context.isSameAs(other.context);
  }

  /**
   * Waits for the work on the device, frees its memory, streams and events that are still there,
   * and gives the context back. Later calls fail. Does nothing if the device is closed already.
   *
   * @throws IllegalStateException if another thread is in a call on the device
   * @throws CudaException if a kernel that was still at work failed; the device is closed then, too
   */
  @Override
  public void close() {
    context.close();
  }

  /** For example {@code device 0 (NVIDIA H100 80GB HBM3)}. */
  @Override
  public String toString() {
    return info.toString();
  }
}
