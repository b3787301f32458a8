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
  private final IntSupplier machineBits;
  private final IntSupplier vectorBits;
  private final boolean loops;

  /** Null where kernels serve every call, because a back end was chosen by name. */
  private final @Nullable Payoff payoff;

  private final Kept kernels = new Kept();

  /** For calls whose kernels do not pay, or are not ready yet. */
  private final Kept plain = new Kept();

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
    Plan kernels = this.kernels.find(call, stores);
    if (payoff == null) {
      return kernels == null
          ? this.kernels.added(new Plan(call, stores, false, backEnds()))
          : kernels;
    }
    if (kernels != null && kernels.lasts()) {
      return kernels;
    }
    long elements = rows * call.choices().width();
    payoff.count(elements);
    while (paysNow(payoff, elements)) {
      Future<?> making = later(call, stores, elements);
      boolean waits = elements > Payoff.ELEMENTS && !KernelThread.isCurrent();
      if (kernels != null || !making.isDone() && !waits) {
        break;
      }
      await(making);
      kernels = this.kernels.find(call, stores);
    }
    if (kernels != null) {
      return kernels;
    }
    Plan plan = plain.find(call, stores);
    return plan == null
        ? plain.added(new Plan(call, stores, true, List.of(new PlainBackEnd())))
        : plan;
  }

  private boolean paysNow(Payoff payoff, long elements) {
    return !failed && payoff.pays(elements, Boolean.TRUE.equals(loopsAlone));
  }

  /** Has the kernels of a call made, one kind of call after the other. */
  private Future<?> later(Call call, OutputStores stores, long elements) {
    KernelThread.Work work;
    synchronized (this) {
      if (making != null && !making.isDone()) {
        return making;
      }
      work = new KernelThread.Work(() -> make(call, stores, elements));
      making = work;
    }
    KernelThread.later(work);
    return work;
  }

  private void make(Call call, OutputStores stores, long elements) {
    boolean done = false;
    try {
      loopsAlone = machineBits.getAsInt() == 0 && vectorBits.getAsInt() == 0;
      if (payoff == null || paysNow(payoff, elements)) {
        Plan old = kernels.find(call, stores);
        kernels.replace(old, new Plan(call, stores, false, backEnds()));
      }
      done = true;
    } finally {
      failed = !done;
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

  /** The last few plans of a kind: each call looks for its own among them. */
  private static final class Kept {
    private static final int MOST = 8;

    private final AtomicReferenceArray<Plan> plans = new AtomicReferenceArray<>(MOST);
    private volatile int next;

    @Nullable Plan find(Call call, OutputStores stores) {
      for (int i = 0; i < MOST; i++) {
        Plan plan = plans.getPlain(i);
        if (plan != null && plan.fits(call, stores)) {
          return plan;
        }
      }
      return null;
    }

    /** Keeps a plan, unless a better one may come later. */
    Plan added(Plan plan) {
      if (plan.lasts()) {
        add(plan);
      }
      return plan;
    }

    /** Keeps a plan, in the place of the oldest one. */
    void add(Plan plan) {
      int place = next;
      next = (place + 1) % MOST;
      plans.set(place, plan);
    }

    /** Keeps a plan, in the place of one for the same calls if there is one. */
    void replace(@Nullable Plan old, Plan plan) {
      for (int i = 0; i < MOST && old != null; i++) {
        if (plans.compareAndSet(i, old, plan)) {
          return;
        }
      }
      add(plan);
    }
  }
}
