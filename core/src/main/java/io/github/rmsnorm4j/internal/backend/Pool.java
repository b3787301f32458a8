package io.github.rmsnorm4j.internal.backend;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;

/** Objects for one thread at a time. */
public final class Pool<T> {
  private static final int SLOTS = 64;

  /** References of a cache line: slots of different threads do not share one. */
  private static final int APART = 16;

  private final AtomicReferenceArray<T> slots = new AtomicReferenceArray<>(SLOTS * APART);
  private final Supplier<T> maker;

  public Pool(Supplier<T> maker) {
    this.maker = maker;
  }

  public T take() {
    int start = (int) Thread.currentThread().threadId();
    for (int i = 0; i < SLOTS; i++) {
      int slot = slot(start + i);
      // Locked only if there may be an object.
      T object = slots.getPlain(slot) == null ? null : slots.getAndSet(slot, null);
      if (object != null) {
        return object;
      }
    }
    return maker.get();
  }

  /**
   * Gives an object back.
   *
   * @return false if the pool is full: the object is still the caller's
   */
  public boolean giveBack(T object) {
    int start = (int) Thread.currentThread().threadId();
    for (int i = 0; i < SLOTS; i++) {
      int slot = slot(start + i);
      if (slots.getPlain(slot) == null && slots.compareAndSet(slot, null, object)) {
        return true;
      }
    }
    return false;
  }

  private static int slot(int i) {
    return (i & SLOTS - 1) * APART;
  }
}
