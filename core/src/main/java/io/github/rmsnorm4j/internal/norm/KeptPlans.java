package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Plans, found by what a call is. To find one takes no lock and allocates nothing. Beyond a limit,
 * those that no call found lately make room.
 */
final class KeptPlans {
  /** More kinds of call than programs are known to have with one norm. */
  static final int MOST = 64;

  private static final int FIRST_SLOTS = 8;

  /** By hash, at most half full: a plan is at its slot, or in those behind it without a gap. */
  private volatile AtomicReferenceArray<Plan> slots = new AtomicReferenceArray<>(FIRST_SLOTS);

  /** The one that was found last: calls of one kind follow each other. Any thread's will do. */
  private @Nullable Plan last;

  private int size;
  private volatile boolean full;

  /** The plan of a call, or null. */
  @Nullable Plan find(Call call, OutputStores stores) {
    Plan plan = last;
    if (plan == null || !plan.fits(call, stores)) {
      plan = search(call, stores);
      last = plan;
    }
    if (plan != null) {
      plan.noteUse();
    }
    return plan;
  }

  private @Nullable Plan search(Call call, OutputStores stores) {
    AtomicReferenceArray<Plan> now = slots;
    int mask = now.length() - 1;
    for (int i = Plan.hash(call, stores) & mask; ; i = (i + 1) & mask) {
      Plan plan = now.getAcquire(i);
      if (plan == null || plan.fits(call, stores)) {
        return plan;
      }
    }
  }

  /** Keeps a plan, unless a better one may come later. */
  Plan added(Plan plan) {
    if (plan.lasts()) {
      add(plan);
    }
    return plan;
  }

  /** Keeps a plan, in the place of one for the same calls if there is one. */
  synchronized void add(Plan plan) {
    if (size == MOST) {
      full = true;
      move(slots.length(), true);
    } else if (2 * (size + 1) > slots.length()) {
      move(2 * slots.length(), false);
    }
    put(slots, plan);
    last = plan; // It may have been the one that this replaces.
  }

  private void put(AtomicReferenceArray<Plan> into, Plan plan) {
    int mask = into.length() - 1;
    int i = plan.hash() & mask;
    Plan there = into.getPlain(i);
    while (there != null && !there.isForCallsOf(plan)) {
      i = (i + 1) & mask;
      there = into.getPlain(i);
    }
    size += there == null ? 1 : 0;
    into.setRelease(i, plan);
  }

  /**
   * Moves plans to new slots, so that no reader misses one meanwhile.
   *
   * @param evicts whether those stay away that were not found since the last time, or half of them
   */
  private void move(int length, boolean evicts) {
    AtomicReferenceArray<Plan> from = slots;
    AtomicReferenceArray<Plan> into = new AtomicReferenceArray<>(length);
    size = 0;
    for (int i = 0; i < from.length(); i++) {
      Plan plan = from.getPlain(i);
      if (plan != null && !(evicts && (size == MOST / 2 || !plan.wasUsed()))) {
        put(into, plan);
      }
    }
    slots = into;
  }

  /** Whether a plan had to make room. */
  boolean isFull() {
    return full;
  }
}
