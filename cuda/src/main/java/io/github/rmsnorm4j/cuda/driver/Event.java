package io.github.rmsnorm4j.cuda.driver;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/** A mark on a stream. The device keeps the time at which it passed the mark. */
public final class Event implements AutoCloseable {
  private static final int NO_FLAGS = 0;

  /** Of all marks that were set, to know which of two was set first. */
  private static final AtomicLong MARKS = new AtomicLong();

  private final CudaContext context;
  private final MemorySegment handle;
  private final Resource resource;

  /** The handle of the stream where it was recorded; null before. */
  private MemorySegment stream;

  private long mark;

  /** The launches in the context before it was recorded. */
  private long launches;

  /** An event of a context, not recorded yet. One thread uses it at a time. */
  public Event(CudaContext context) {
    this.context = context;
    this.handle = MemorySegment.ofAddress(context.ask(EntryPoint.EVENT_CREATE, NO_FLAGS));
    this.resource = context.own(EntryPoint.EVENT_DESTROY, handle);
  }

  /** Sets the mark behind all that was started on the stream. */
  public void record(Stream on) {
    requireOpen();
    requireSame(on);
    MemorySegment there = on.handle();
    long before = context.launches().count();
    context.call(EntryPoint.EVENT_RECORD, handle, there);
    stream = there;
    launches = before;
    mark = MARKS.getAndIncrement();
  }

  /** {@return its handle, for a stream of the same context that will wait for it} */
  MemorySegment handleFor(Stream waiting) {
    requireRecorded();
    requireSame(waiting);
    return handle;
  }

  /** Waits until the device has passed the mark. */
  public void synchronize() {
    requireRecorded();
    context.call(EntryPoint.EVENT_SYNCHRONIZE, handle);
    context.launches().finished(launches, stream);
  }

  /**
   * Waits until the device has passed this mark, and says how long the way from an earlier one was.
   *
   * @return milliseconds; the device counts steps of half a microsecond
   * @throws IllegalArgumentException if the other event is not on the same stream, or was recorded
   *     after this one
   */
  public double millisecondsSince(Event earlier) {
    requireRecorded();
    earlier.requireRecorded();
    if (!context.isSameAs(earlier.context)) {
      throw new IllegalArgumentException(
          "the earlier event is of " + earlier.context + ", this one is of " + context);
    }
    if (!stream.equals(earlier.stream)) {
      throw new IllegalArgumentException(
          "the earlier event was recorded on another stream of "
              + context
              + ": both must be on one stream");
    }
    if (earlier.mark > mark) {
      throw new IllegalArgumentException(
          "the earlier event on " + context + " was recorded after this one");
    }
    synchronize();
    long bits = context.ask(EntryPoint.EVENT_ELAPSED_TIME, earlier.handle, handle);
    return Float.intBitsToFloat((int) bits);
  }

  private void requireSame(Stream other) {
    if (!other.context().isSameAs(context)) {
      throw new IllegalArgumentException(
          "the event is of " + context + ", the stream is of " + other.context());
    }
  }

  private void requireRecorded() {
    requireOpen();
    if (stream == null) {
      throw new IllegalStateException("the event on " + context + " was not recorded");
    }
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
