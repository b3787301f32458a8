package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.BackEnd;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.lowering.LoopBackEnd;
import io.github.rmsnorm4j.internal.lowering.VectorBackEnd;
import io.github.rmsnorm4j.internal.lowering.machine.MachineBackEnd;
import io.github.rmsnorm4j.internal.machine.Shortage;
import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The plans of a norm. Without them a call of one row would take as long to find its kernels as to
 * compute. Several threads may use it at once; at worst a plan is made twice.
 */
public final class Plans {
  private final IntSupplier machineBits;
  private final IntSupplier vectorBits;
  private final boolean loops;

  /** Null where kernels serve every call, because a back end was chosen by name. */
  private final @Nullable Payoff payoff;

  private final KeptPlans kernels = new KeptPlans();

  /** For calls whose kernels do not pay, or are not ready yet. */
  private final KeptPlans plain = new KeptPlans();

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

  /** The same for a call whose output becomes codes; 0 until their machine code is made. */
  public int machineBits(long elements, CodeMemory codes, CodeRule rule) {
    int bits = machineBits(elements);
    boolean atOnce = payoff == null || elements > Payoff.ELEMENTS;
    return atOnce || bits == 0 ? bits : CodeKernels.ready(codes, rule, machineBits);
  }

  /**
   * The plan of a call: one of the last ones if it fits. Where a kernel pays that is not there yet,
   * plain Java serves and the kernel is made meanwhile. A call that takes longer without it than to
   * make it waits.
   */
  Plan of(Call call, long rows) {
    return of(call, rows, true);
  }

  /** The same plan; if {@code mayWait} is false, no call waits. */
  Plan of(Call call, long rows, boolean mayWait) {
    OutputStores stores = OutputStores.of(call, rows);
    Plan plan = kernels.find(call, stores);
    if (payoff == null) {
      return plan == null ? kernels.added(ofKernels(call, stores)) : plan;
    }
    if (plan != null && plan.lasts()) {
      return plan;
    }
    long elements = rows * call.choices().width();
    payoff.count(elements);
    boolean waits = mayWait && plan == null && elements > Payoff.ELEMENTS;
    while (paysNow(payoff, elements)) {
      if (plan == null && kernels.isFull()) {
        // Its kernels are there or soon will be: to look for them takes less than plain Java.
        return kernels.added(ofKernels(call, stores));
      }
      if (!isMade(call, stores, elements, waits) || plan != null) {
        break;
      }
      plan = kernels.find(call, stores);
    }
    if (plan != null) {
      return plan;
    }
    plan = plain.find(call, stores);
    return plan == null
        ? plain.added(new Plan(call, stores, true, List.of(new PlainBackEnd())))
        : plan;
  }

  private Plan ofKernels(Call call, OutputStores stores) {
    return new Plan(call, stores, false, backEnds());
  }

  private boolean paysNow(Payoff payoff, long elements) {
    return !failed && !Shortage.lasts() && payoff.pays(elements, Boolean.TRUE.equals(loopsAlone));
  }

  /**
   * Has the kernels of a call made, one kind of call after the other.
   *
   * @param waits whether the caller waits, within reason
   * @return whether some were made, perhaps those of another kind
   */
  private boolean isMade(Call call, OutputStores stores, long elements, boolean waits) {
    KernelThread.Work begun = null;
    KernelThread.Work now;
    synchronized (this) {
      now = making;
      if (now == null || now.isDone()) {
        begun = new KernelThread.Work(() -> make(call, stores, elements));
        now = begun;
        making = begun;
      }
    }
    if (begun != null) {
      KernelThread.later(begun); // Not under the lock: it may do the work at once.
    }
    return now.isOverAfter(waits);
  }

  private void make(Call call, OutputStores stores, long elements) {
    boolean done = false;
    try {
      loopsAlone = machineBits.getAsInt() == 0 && vectorBits.getAsInt() == 0;
      if (payoff == null || paysNow(payoff, elements)) {
        kernels.add(ofKernels(call, stores));
      }
      done = true;
    } catch (OutOfMemoryError e) {
      Shortage.note(e);
      done = true;
    } finally {
      failed = !done;
    }
  }

  private List<BackEnd> backEnds() {
    if (backEnds == null) {
      MachineBackEnd machine = new MachineBackEnd(machineBits, payoff == null ? null : vectorBits);
      // Without loops there are no vectors either: where plain Java was chosen, or the JDK is old.
      backEnds =
          loops
              ? List.of(
                  machine, new VectorBackEnd(vectorBits), new LoopBackEnd(), new PlainBackEnd())
              : List.of(machine, new PlainBackEnd());
    }
    return backEnds;
  }
}
