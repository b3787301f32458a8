package io.github.rmsnorm4j.internal.kernel;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;

/**
 * Objects that calls have done with, for other calls: each thread looks first where it gave back.
 *
 * @param <T> what they are
 */
public final class Pool<T> {
  private static final int SLOTS = 64;

  private final AtomicReferenceArray<T> slots = new AtomicReferenceArray<>(SLOTS);
  private final Supplier<T> maker;

  /** Made where there is none. */
  public Pool(Supplier<T> maker) {
    this.maker = maker;
  }

  /** An object of nobody else's. */
  public T take() {
    int start = (int) Thread.currentThread().threadId();
    for (int i = 0; i < SLOTS; i++) {
      T object = slots.getAndSet(Math.floorMod(start + i, SLOTS), null);
      if (object != null) {
        return object;
      }
    }
    return maker.get();
  }

  /** Takes an object back, which is not the giver's any more; where all is full it is let go. */
  public void giveBack(T object) {
    int start = (int) Thread.currentThread().threadId();
    for (int i = 0; i < SLOTS; i++) {
      if (slots.compareAndSet(Math.floorMod(start + i, SLOTS), null, object)) {
        return;
      }
    }
  }
}
