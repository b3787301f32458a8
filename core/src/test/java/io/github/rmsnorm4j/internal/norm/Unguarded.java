package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.machine.CallersState;

/** Another floating-point state, in which Java code computes as it would without the guard. */
public final class Unguarded {
  private Unguarded() {}

  /** Runs something; returns the state that is left. */
  public static int during(int state, Runnable work) {
    FloatingPointGuard.LEFT_ALONE.add(Thread.currentThread());
    try {
      return CallersState.during(state, work);
    } finally {
      FloatingPointGuard.LEFT_ALONE.remove(Thread.currentThread());
    }
  }
}
