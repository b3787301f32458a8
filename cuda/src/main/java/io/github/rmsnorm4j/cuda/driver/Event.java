package io.github.rmsnorm4j.cuda.driver;

import java.lang.foreign.MemorySegment;

/** A mark on a stream. The device keeps the time at which it passed the mark. */
public final class Event implements AutoCloseable {
  private static final int DEFAULT = 0;

  private final CudaContext context;
  private final MemorySegment handle;
  private final Resource resource;

  /** Where it was recorded; null before. */
  private Stream stream;

  /** An event of a context, not recorded yet. One thread uses it at a time. */
  public Event(CudaContext context) {
    this.context = context;
    this.handle = MemorySegment.ofAddress(context.ask(EntryPoint.EVENT_CREATE, DEFAULT));
    this.resource = context.own(EntryPoint.EVENT_DESTROY, handle);
  }

  /** Sets the mark behind all that was started on the stream. */
  public void record(Stream on) {
    requireOpen();
    if (!on.context().isSameAs(context)) {
      throw new IllegalArgumentException(
          "the event is of " + context + ", the stream is of " + on.context());
    }
    context.call(EntryPoint.EVENT_RECORD, handle, on.handle());
    stream = on;
  }

  /**
   * Waits until the device has passed this mark, and says how long the way from an earlier one was.
   *
   * @return milliseconds; the device counts steps of half a microsecond
   * @throws IllegalArgumentException if the other event is not on the same stream
   */
  public double millisecondsSince(Event earlier) {
    requireOpen();
    earlier.requireOpen();
    if (stream == null || earlier.stream == null) {
      throw new IllegalStateException("the event on " + context + " was not recorded");
    }
    if (stream != earlier.stream) {
      throw new IllegalArgumentException(
          "the earlier event is on another stream of " + earlier.context);
    }
    context.call(EntryPoint.EVENT_SYNCHRONIZE, handle);
    long bits = context.ask(EntryPoint.EVENT_ELAPSED_TIME, earlier.handle, handle);
    return Float.intBitsToFloat((int) bits);
  }

  private void requireOpen() {
    if (!resource.isOpen()) {
      throw new IllegalStateException("the event on " + context + " is closed");
    }
  }

  @Override
  public void close() {
    resource.close();
  }
}
