package io.github.rmsnorm4j.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A stream: work on the device that is done in the order in which it was started. */
public final class Stream {
  /** Such a stream waits for copies without a stream, and they wait for it. */
  private static final int DEFAULT = 0;

  private static final int NO_FLAGS = 0;

  private final CudaContext context;
  private final MemorySegment handle;

  /** Null for a stream of somebody else. */
  private final Resource resource;

  private Stream(CudaContext context, MemorySegment handle, Resource resource) {
    this.context = context;
    this.handle = handle;
    this.resource = resource;
  }

  /** A new stream. */
  public static Stream create(CudaContext context) {
    MemorySegment handle = MemorySegment.ofAddress(context.ask(EntryPoint.STREAM_CREATE, DEFAULT));
    return new Stream(context, handle, context.own(EntryPoint.STREAM_DESTROY, handle));
  }

  /**
   * A stream of somebody else, who keeps it.
   *
   * @throws IllegalArgumentException if it is no stream, or in another context
   */
  public static Stream wrap(CudaContext context, long handle) {
    MemorySegment stream = MemorySegment.ofAddress(handle);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment cell = arena.allocate(JAVA_LONG);
      context.callDuring(
          ", for the handle 0x%x".formatted(handle), EntryPoint.STREAM_GET_CTX, stream, cell);
      if (cell.get(JAVA_LONG, 0) != context.handle().address()) {
        throw new IllegalArgumentException(
            "handle 0x%x is a stream of another context, it must be one of %s"
                .formatted(handle, context));
      }
    }
    return new Stream(context, stream, null);
  }

  /** {@return the context that it is in} */
  public CudaContext context() {
    return context;
  }

  /** {@return its handle, a {@code CUstream}} */
  public MemorySegment handle() {
    requireOpen();
    return handle;
  }

  /** Waits, before what is started here later, until the device has passed the event's mark. */
  public void waitFor(Event event) {
    MemorySegment awaited = event.handleFor(this);
    context.call(EntryPoint.STREAM_WAIT_EVENT, handle(), awaited, NO_FLAGS);
  }

  /** Waits until all is done that was started here. */
  public void synchronize() {
    requireOpen();
    long started = context.launches().count();
    context.call(EntryPoint.STREAM_SYNCHRONIZE, handle);
    context.launches().finished(started, handle);
  }

  private void requireOpen() {
    if (resource != null && !resource.isOpen()) {
      throw new IllegalStateException("the stream on " + context + " is closed");
    }
  }

  /** Gives the stream back once its work is done. Does not wait, and leaves others' streams. */
  public void close() {
    if (resource != null) {
      resource.close();
    }
  }
}
