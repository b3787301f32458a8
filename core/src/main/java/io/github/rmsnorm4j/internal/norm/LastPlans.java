package io.github.rmsnorm4j.internal.norm;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The last few plans of a norm. Without them a call of one row would take as long to find its
 * kernels as to compute. Several threads may use it at once; at worst a plan is made twice.
 */
public final class LastPlans<P> {
  static final int KEPT = 8;

  private final AtomicReferenceArray<P> plans = new AtomicReferenceArray<>(KEPT);
  private volatile int next;

  /** One of them, or null. */
  P get(int i) {
    return plans.getPlain(i);
  }

  /** Keeps a plan, in the place of the oldest one. */
  P add(P plan) {
    int place = next;
    next = (place + 1) % KEPT;
    plans.set(place, plan);
    return plan;
  }
}
