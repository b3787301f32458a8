package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.cuda.driver.CudaContext;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.function.Supplier;

/**
 * Memory of a device. It has the life of an arena, as a {@link MemorySegment} has: {@link
 * CudaDevice#allocate} makes it, and it is freed when the arena is closed. Memory of another
 * library, which {@link CudaDevice#wrap} gives, lives as long as that library keeps it.
 *
 * <p>The processor cannot read it: bytes are copied. Copies without a stream begin when the work on
 * the device's own streams is done, and have ended when the call returns. A stream that another
 * library made not to wait for the default stream must be synchronized first.
 *
 * <p>Copies on a stream only start there. Whether such a copy runs beside the processor depends on
 * the memory of the host. From and to page-locked memory, which {@link CudaDevice#allocatePinned}
 * gives, the call returns at once, and the device copies beside the processor and beside kernels of
 * other streams. Other native memory is allowed too; then the driver copies it through page-locked
 * memory of its own, and the call may wait for the stream and for the copy. In both cases the bytes
 * of the host belong to the copy until the stream has done it, which {@link CudaStream#synchronize}
 * or a {@link CudaEvent} tells: until then nobody may write the source of a copy to the device, and
 * nobody may read or write the target of a copy to the host.
 *
 * <p>The memory of a confined arena belongs to that arena's thread; the memory of other arenas may
 * be used by any thread. Kernels and copies on streams go on when a call has returned. Closing the
 * arena waits for them. An arena must not be closed by one thread while another starts work on its
 * memory.
 */
public final class CudaMemory {
  /** Copies of heap memory and mapped files go through a buffer of this size. */
  private static final long STAGED_BYTES = 1 << 20;

  // Of CUpointer_attribute and CUmemorytype.
  private static final int CONTEXT = 1;
  private static final int MEMORY_TYPE = 2;
  private static final int DEVICE_ORDINAL = 9;
  private static final int MEMORY_TYPE_HOST = 1;

  private static final int INVALID_VALUE = 1;

  /** Of copies without a stream. */
  private static final MemorySegment DEFAULT_STREAM = MemorySegment.NULL;

  private final CudaDevice device;

  /** Addresses of the device, with life and bounds. The processor must not read or write there. */
  private final MemorySegment addresses;

  CudaMemory(CudaDevice device, MemorySegment addresses) {
    this.device = device;
    this.addresses = addresses;
  }

  @SuppressWarnings("restricted")
  static CudaMemory wrap(CudaDevice device, long address, long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes is " + bytes + ", it must be at least 1");
    }
    requireDeviceMemory(device, address);
    requireDeviceMemory(device, address + bytes - 1);
    return new CudaMemory(device, MemorySegment.ofAddress(address).reinterpret(bytes));
  }

  private static void requireDeviceMemory(CudaDevice device, long address) {
    CudaContext context = device.context();
    long type;
    try {
      type = context.ask(EntryPoint.POINTER_GET_ATTRIBUTE, MEMORY_TYPE, address);
    } catch (CudaException e) {
      if (e.code() != INVALID_VALUE) {
        throw e;
      }
      throw new IllegalArgumentException(
          "address 0x%x is memory that the driver does not know, it must be memory of %s"
              .formatted(address, device),
          e);
    }
    if (type == MEMORY_TYPE_HOST) {
      throw new IllegalArgumentException(
          "address 0x%x is memory of the host, it must be memory of %s".formatted(address, device));
    }
    long owner = context.ask(EntryPoint.POINTER_GET_ATTRIBUTE, DEVICE_ORDINAL, address);
    if (owner != device.info().index()) {
      throw new IllegalArgumentException(
          "address 0x%x is memory of device %s, it must be memory of %s"
              .formatted(address, owner, device));
    }
    // Of virtual memory and of pools, which belong to no context, it is null.
    long of = context.ask(EntryPoint.POINTER_GET_ATTRIBUTE, CONTEXT, address);
    if (of != 0 && !context.hasHandle(of)) {
      throw new IllegalArgumentException(
          "address 0x%x is memory of another context, it must be memory of the primary context of %s"
              .formatted(address, device));
    }
  }

  /** {@return the device that it is on} */
  public CudaDevice device() {
    return device;
  }

  /** {@return its size in bytes} */
  public long byteSize() {
    return addresses.byteSize();
  }

  /**
   * {@return its first address on the device for other libraries, a {@code CUdeviceptr}; 0 if it is
   * empty}
   *
   * @throws IllegalStateException if the arena or the device is closed
   * @throws WrongThreadException if the arena is confined to another thread
   */
  public long address() {
    requireAccess();
    // A call may be on another object of the same device, which is open.
    device.context().requireOpen();
    return addresses.address();
  }

  /**
   * {@return the memory from an offset on}
   *
   * @param offset bytes
   * @throws IndexOutOfBoundsException if the offset is below 0 or above the size
   */
  public CudaMemory asSlice(long offset) {
    return asSlice(offset, byteSize() - offset);
  }

  /**
   * {@return a part of this memory}
   *
   * @param offset bytes before the part
   * @param bytes its size
   * @throws IndexOutOfBoundsException if the part is not within this memory
   */
  public CudaMemory asSlice(long offset, long bytes) {
    if (offset < 0 || bytes < 0 || offset > byteSize() - bytes) {
      throw new IndexOutOfBoundsException(
          "%s bytes from offset %s on are not within memory of %s bytes"
              .formatted(bytes, offset, byteSize()));
    }
    return new CudaMemory(device, addresses.asSlice(offset, bytes));
  }

  /**
   * Copies bytes of the host to the beginning of this memory, and waits until that is done.
   *
   * @param source heap memory, native memory or a mapped file; not larger than this memory
   * @throws IndexOutOfBoundsException if the source is larger than this memory
   * @throws IllegalStateException if an arena or the device is closed
   * @throws WrongThreadException if an arena is confined to another thread
   * @throws CudaException if the driver or work before this on the device failed
   */
  public void copyFrom(MemorySegment source) {
    requireFits("source", source.byteSize());
    if (isAddressable(source)) {
      write(0, source);
    } else {
      writeStaged(source);
    }
    // The driver returns when it has read the source, which is before the device has the bytes.
    run(source.byteSize(), EntryPoint.STREAM_SYNCHRONIZE, DEFAULT_STREAM);
  }

  private void writeStaged(MemorySegment source) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(Math.min(STAGED_BYTES, source.byteSize()));
      for (long at = 0; at < source.byteSize(); at += STAGED_BYTES) {
        MemorySegment piece = buffer.asSlice(0, Math.min(STAGED_BYTES, source.byteSize() - at));
        MemorySegment.copy(source, at, piece, 0, piece.byteSize());
        write(at, piece);
      }
    }
  }

  /**
   * Copies this memory to the beginning of memory of the host, and waits until that is done.
   *
   * @param target heap memory, native memory or a mapped file; not smaller than this memory
   * @throws IndexOutOfBoundsException if the target is smaller than this memory
   * @throws IllegalArgumentException if the target is read-only
   * @throws IllegalStateException if an arena or the device is closed
   * @throws WrongThreadException if an arena is confined to another thread
   * @throws CudaException if the driver or work before this on the device failed
   */
  public void copyTo(MemorySegment target) {
    requireTarget(target);
    if (isAddressable(target)) {
      read(0, target.asSlice(0, byteSize()));
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(Math.min(STAGED_BYTES, byteSize()));
      for (long at = 0; at < byteSize(); at += STAGED_BYTES) {
        MemorySegment piece = buffer.asSlice(0, Math.min(STAGED_BYTES, byteSize() - at));
        read(at, piece);
        MemorySegment.copy(piece, 0, target, at, piece.byteSize());
      }
    }
  }

  private void write(long offset, MemorySegment source) {
    run(
        source.byteSize(),
        EntryPoint.MEMCPY_TO_DEVICE,
        address() + offset,
        source,
        source.byteSize());
  }

  private void read(long offset, MemorySegment target) {
    run(
        target.byteSize(),
        EntryPoint.MEMCPY_TO_HOST,
        target,
        address() + offset,
        target.byteSize());
  }

  /**
   * Starts a copy of bytes of the host to the beginning of this memory. It runs beside the
   * processor if the source is pinned: memory of {@link CudaDevice#allocatePinned}.
   *
   * @param source native memory, not larger than this memory; its arena must stay open (an
   *     automatic one reachable), and its bytes must stay as they are, until the stream has done
   *     the copy. They may be read meanwhile
   * @param stream a stream of the same device
   * @throws IndexOutOfBoundsException if the source is larger than this memory
   * @throws IllegalArgumentException if the source is heap memory or a mapped file, or the stream
   *     is of another device
   * @throws IllegalStateException if an arena, the stream or the device is closed
   * @throws WrongThreadException if an arena is confined to another thread
   * @throws CudaException if the driver or work before this on the device failed
   */
  public void copyFrom(MemorySegment source, CudaStream stream) {
    requireFits("source", source.byteSize());
    requireAddressable("source", source);
    run(
        source.byteSize(),
        EntryPoint.MEMCPY_TO_DEVICE_ASYNC,
        address(),
        source,
        source.byteSize(),
        handle(stream));
  }

  /**
   * Starts a copy of this memory to the beginning of memory of the host. It runs beside the
   * processor if the target is pinned: memory of {@link CudaDevice#allocatePinned}.
   *
   * @param target native memory, not smaller than this memory; its arena must stay open (an
   *     automatic one reachable), and nothing may use its bytes, until the stream has done the copy
   * @param stream a stream of the same device
   * @throws IndexOutOfBoundsException if the target is smaller than this memory
   * @throws IllegalArgumentException if the target is read-only, heap memory or a mapped file, or
   *     the stream is of another device
   * @throws IllegalStateException if an arena, the stream or the device is closed
   * @throws WrongThreadException if an arena is confined to another thread
   * @throws CudaException if the driver or work before this on the device failed
   */
  public void copyTo(MemorySegment target, CudaStream stream) {
    requireTarget(target);
    requireAddressable("target", target);
    run(byteSize(), EntryPoint.MEMCPY_TO_HOST_ASYNC, target, address(), byteSize(), handle(stream));
  }

  /**
   * Starts a copy of other memory of the device to the beginning of this memory.
   *
   * @param source memory of the same device, not larger than this memory and not overlapping it
   * @param stream a stream of the same device
   * @throws IndexOutOfBoundsException if the source is larger than this memory
   * @throws IllegalArgumentException if the source or the stream is of another device, or the
   *     source overlaps this memory
   * @throws IllegalStateException if an arena, the stream or the device is closed
   * @throws WrongThreadException if an arena is confined to another thread
   * @throws CudaException if the driver or work before this on the device failed
   */
  public void copyFrom(CudaMemory source, CudaStream stream) {
    requireFits("source", source.byteSize());
    if (!device.isSameAs(source.device)) {
      throw new IllegalArgumentException(
          "source is memory of " + source.device + ", it must be memory of " + device);
    }
    if (addresses.asSlice(0, source.byteSize()).asOverlappingSlice(source.addresses).isPresent()) {
      throw new IllegalArgumentException(
          "source overlaps the memory that it is copied to: they must share no bytes");
    }
    run(
        source.byteSize(),
        EntryPoint.MEMCPY_ON_DEVICE_ASYNC,
        address(),
        source.address(),
        source.byteSize(),
        handle(stream));
    Reference.reachabilityFence(source.addresses);
  }

  /**
   * The driver takes no copy of nothing. It has addresses, which keep no memory: that of an
   * automatic arena must not be freed before the call is over.
   */
  private void run(long bytes, EntryPoint entry, Object... arguments) {
    try {
      if (bytes > 0) {
        device.context().call(entry, arguments);
      }
    } finally {
      Reference.reachabilityFence(addresses);
    }
  }

  private MemorySegment handle(CudaStream stream) {
    if (!device.isSameAs(stream.device())) {
      throw new IllegalArgumentException(
          "stream is of " + stream.device() + ", the memory is of " + device);
    }
    return stream.internal().handle();
  }

  private void requireAccess() {
    requireAccess(() -> "memory of " + device);
  }

  /** Refuses memory that is gone or of another thread, which a message calls so. */
  void requireAccess(Supplier<String> name) {
    if (!addresses.scope().isAlive()) {
      throw new IllegalStateException(name.get() + " was freed: its arena is closed");
    }
    if (!addresses.isAccessibleBy(Thread.currentThread())) {
      throw new WrongThreadException(name.get() + " is confined to another thread by its arena");
    }
  }

  /** For checks: it has addresses, life and bounds, and must be neither read nor written. */
  MemorySegment addresses() {
    return addresses;
  }

  private void requireFits(String name, long bytes) {
    if (bytes > byteSize()) {
      throw new IndexOutOfBoundsException(
          "%s has %s bytes, the memory of %s has %s".formatted(name, bytes, device, byteSize()));
    }
  }

  private void requireTarget(MemorySegment target) {
    if (target.byteSize() < byteSize()) {
      throw new IndexOutOfBoundsException(
          "target has %s bytes, the memory of %s has %s"
              .formatted(target.byteSize(), device, byteSize()));
    }
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("target is read-only, it must be writable");
    }
  }

  /** A mapped file may become shorter; then an access by the driver would end the process. */
  private static boolean isAddressable(MemorySegment segment) {
    return segment.isNative() && !segment.isMapped();
  }

  private static void requireAddressable(String name, MemorySegment segment) {
    if (!isAddressable(segment)) {
      throw new IllegalArgumentException(
          "%s is %s, it must be native memory: copies on a stream go on after the call"
              .formatted(name, segment.isMapped() ? "a mapped file" : "heap memory"));
    }
  }

  /** For example {@code 4096 bytes on device 0 (NVIDIA H100 80GB HBM3)}. */
  @Override
  public String toString() {
    return byteSize() + " bytes on " + device;
  }
}
