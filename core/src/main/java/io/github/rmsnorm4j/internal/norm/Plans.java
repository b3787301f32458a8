package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.BackEnd;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.lowering.LoopBackEnd;
import io.github.rmsnorm4j.internal.lowering.VectorBackEnd;
import io.github.rmsnorm4j.internal.lowering.machine.MachineBackEnd;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The last few plans of a norm. Without them a call of one row would take as long to find its
 * kernels as to compute. Several threads may use it at once; at worst a plan is made twice.
 */
public final class Plans {
  private static final int KEPT = 8;

  private final IntSupplier machineBits;
  private final IntSupplier vectorBits;
  private final boolean loops;

  /** Null where kernels serve every call, because a back end was chosen by name. */
  private final @Nullable Payoff payoff;

  private final AtomicReferenceArray<Plan> plans = new AtomicReferenceArray<>(KEPT);
  private volatile int next;

  /** Whether loops are all that there is; finding out takes time, so it is kept. */
  private volatile @Nullable Boolean loopsAlone;

  /** Null until they are needed: the start of a process loads no class that it does not need. */
  private volatile @Nullable List<BackEnd> backEnds;

  /**
   * No plans yet.
   *
   * @param machineBits the width of vectors of machine code, 0 for none; found by a native call
   * @param vectorBits the width of vectors of the Vector API, 0 for none; slow to find
   * @param loops whether calls that nothing else serves take loops, and not plain Java
   * @param payoff until it pays for kernels, calls take plain Java; null where no call does,
   *     because a back end was chosen by name
   */
  public Plans(
      IntSupplier machineBits, IntSupplier vectorBits, boolean loops, @Nullable Payoff payoff) {
    this.machineBits = machineBits;
    this.vectorBits = vectorBits;
    this.loops = loops;
    this.payoff = payoff;
  }

  /**
   * No plans yet.
   *
   * @param backEnds of which the first one that does not refuse runs a call
   */
  public Plans(List<BackEnd> backEnds) {
    this(() -> 0, () -> 0, false, null);
    this.backEnds = backEnds;
  }

  /** The plan of a call: one of the last ones if it fits. */
  Plan of(Call call, long rows) {
    boolean start = payoff != null && isPlain(payoff, rows * call.choices().width());
    OutputStores stores = OutputStores.of(call, rows);
    for (int i = 0; i < KEPT; i++) {
      Plan plan = plans.getPlain(i);
      if (plan != null && plan.fits(call, stores, start)) {
        return plan;
      }
    }
    Plan plan = new Plan(call, stores, start, start ? List.of(new PlainBackEnd()) : backEnds());
    return plan.lasts() ? add(plan) : plan;
  }

  /**
   * Bits of vectors of machine code for a call of so many elements; 0 where there is to be none.
   */
  public int machineBits(long elements) {
    return areKernels(elements) ? machineBits.getAsInt() : 0;
  }

  /** Whether a call of so many elements may have a kernel. */
  boolean areKernels(long elements) {
    return payoff == null || payoff.pays(elements);
  }

  private boolean isPlain(Payoff payoff, long elements) {
    return payoff.isPlain(elements, payoff.pays(elements) && hasLoopsAlone());
  }

  /** Whether there is neither machine code nor the Vector API. */
  private boolean hasLoopsAlone() {
    if (loopsAlone == null) {
      loopsAlone = machineBits.getAsInt() == 0 && vectorBits.getAsInt() == 0;
    }
    return loopsAlone;
  }

  private List<BackEnd> backEnds() {
    if (backEnds == null) {
      backEnds =
          List.of(
              new MachineBackEnd(machineBits, payoff == null ? null : vectorBits),
              new VectorBackEnd(vectorBits),
              new LoopBackEnd(loops),
              new PlainBackEnd());
    }
    return backEnds;
  }

  /** Keeps a plan, in the place of the oldest one. */
  private Plan add(Plan plan) {
    int place = next;
    next = (place + 1) % KEPT;
    plans.set(place, plan);
    return plan;
  }
}
