package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.BackEnd;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.lowering.LoopBackEnd;
import io.github.rmsnorm4j.internal.lowering.VectorBackEnd;
import io.github.rmsnorm4j.internal.lowering.machine.MachineBackEnd;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
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

  /** Whether loops are all that there is; null before the thread of kernels has found out. */
  private volatile @Nullable Boolean loopsAlone;

  /** Whether a kernel could not be made. Plain Java goes on. */
  private volatile boolean failed;

  /** Kernels that are being made, or were; null for none yet. */
  private KernelThread.@Nullable Work making;

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

  /** Bits of vectors of machine code for a call of so many elements; 0 where it has no kernel. */
  public int machineBits(long elements) {
    boolean known =
        payoff == null
            || elements > Payoff.ELEMENTS
            || loopsAlone != null && payoff.pays(elements, false);
    return known ? machineBits.getAsInt() : 0;
  }

  /**
   * The plan of a call: one of the last ones if it fits. Where a kernel pays that is not there yet,
   * plain Java serves and the kernel is made meanwhile. A call that takes longer without it than to
   * make it waits.
   */
  Plan of(Call call, long rows) {
    OutputStores stores = OutputStores.of(call, rows);
    Plan kernels = find(call, stores, false);
    if (payoff == null) {
      return kernels == null ? keptIfLasting(new Plan(call, stores, false, backEnds())) : kernels;
    }
    if (kernels != null && kernels.lasts()) {
      return kernels;
    }
    long elements = rows * call.choices().width();
    payoff.count(elements);
    while (paysNow(payoff, elements)) {
      Future<?> making = later(call, stores, elements);
      if (kernels != null || !making.isDone() && elements <= Payoff.ELEMENTS) {
        break;
      }
      await(making);
      kernels = find(call, stores, false);
    }
    if (kernels != null) {
      return kernels;
    }
    Plan plain = find(call, stores, true);
    return plain == null
        ? keptIfLasting(new Plan(call, stores, true, List.of(new PlainBackEnd())))
        : plain;
  }

  private @Nullable Plan find(Call call, OutputStores stores, boolean start) {
    int place = place(call, stores, start);
    return place < 0 ? null : plans.get(place);
  }

  private int place(Call call, OutputStores stores, boolean start) {
    for (int i = 0; i < KEPT; i++) {
      Plan plan = plans.getPlain(i);
      if (plan != null && plan.fits(call, stores, start)) {
        return i;
      }
    }
    return -1;
  }

  private boolean paysNow(Payoff payoff, long elements) {
    return !failed && payoff.pays(elements, Boolean.TRUE.equals(loopsAlone));
  }

  /** Has the kernels of a call made, one kind of call after the other. */
  private synchronized Future<?> later(Call call, OutputStores stores, long elements) {
    KernelThread.Work now = making;
    if (now == null || now.isDone()) {
      now = new KernelThread.Work(() -> make(call, stores, elements));
      making = now;
      KernelThread.later(now);
    }
    return now;
  }

  private void make(Call call, OutputStores stores, long elements) {
    boolean done = false;
    try {
      loopsAlone = machineBits.getAsInt() == 0 && vectorBits.getAsInt() == 0;
      if (payoff == null || paysNow(payoff, elements)) {
        replace(new Plan(call, stores, false, backEnds()), call, stores);
      }
      done = true;
    } finally {
      failed = !done;
    }
  }

  private void replace(Plan plan, Call call, OutputStores stores) {
    int place = place(call, stores, false);
    if (place < 0) {
      add(plan);
    } else {
      plans.set(place, plan);
    }
  }

  /** Waits for kernels, whatever interrupts. */
  private static void await(Future<?> making) {
    boolean interrupted = false;
    while (!making.isDone()) {
      try {
        making.get();
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (ExecutionException e) {
        break; // It was logged, and plain Java goes on.
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
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

  private Plan keptIfLasting(Plan plan) {
    return plan.lasts() ? add(plan) : plan;
  }

  /** Keeps a plan, in the place of the oldest one. */
  private Plan add(Plan plan) {
    int place = next;
    next = (place + 1) % KEPT;
    plans.set(place, plan);
    return plan;
  }
}
