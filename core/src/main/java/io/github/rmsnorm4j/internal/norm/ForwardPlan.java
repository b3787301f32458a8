package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.lowering.Kernels;
import io.github.rmsnorm4j.internal.lowering.VectorKernel;
import java.util.Map;
import java.util.TreeMap;

/** The kernels of one kind of call. */
public final class ForwardPlan {
  /** What kernels depend on, apart from the choices of the norm. */
  private record Kind(
      ElementType x,
      Memory xMemory,
      ElementType residual,
      Memory residualMemory,
      boolean onTheWay,
      ElementType y,
      Memory yMemory,
      boolean direct,
      boolean gain,
      boolean bias,
      boolean kept,
      ElementType cast) {
    static Kind of(ForwardCall call, Storage storage) {
      NormChoices norm = call.choices();
      RowMemory x = call.x();
      RowMemory residual = call.residual();
      RowMemory y = call.y();
      boolean added = residual == null || RowAccess.isDirect(residual, storage);
      return new Kind(
          x.type(),
          RowAccess.memory(x, storage),
          residual == null ? null : residual.type(),
          residual == null ? null : RowAccess.memory(residual, storage),
          residual != null && added && canAddOnTheWay(norm, residual.type()),
          y.type(),
          RowAccess.memory(y, storage),
          added && RowAccess.isDirect(x, storage) && RowAccess.isDirect(y, storage),
          call.gain() != null,
          call.bias() != null,
          call.ofNorm() != null,
          call.cast());
    }

    /**
     * Whether x + residual may be stored while the row is summed: the row must be summed once and
     * as a whole, and its output must come from the stored sum.
     */
    private static boolean canAddOnTheWay(NormChoices norm, ElementType residual) {
      boolean once = norm.part() == norm.width() && norm.width() <= RowSum.SUPER_BLOCK;
      return once
          && (residual.bytes() > 2 || norm.spec().residualRounding() != ResidualRounding.LAST);
    }

    Map<Tensor, Memory> memory() {
      Map<Tensor, Memory> memory = new TreeMap<>();
      memory.put(Forward.X, xMemory);
      memory.put(Forward.RESIDUAL, residualMemory);
      memory.put(Forward.Y, yMemory);
      return memory;
    }
  }

  private final Kind kind;

  /** Whether it is for the start of a process. */
  private final boolean start;

  /** Which machine code was wanted for the call; it may not be possible. */
  private final MachineUse use;

  final Storage storage;
  final Forward forward;

  /** The norm as machine code; null without. */
  final MachineKernels machine;

  final EvenFirst columns;

  final Statistic statistic;
  final Kernel roots;

  /** The range of one row's statistic. */
  final Kernel range;

  final Kernel output;

  /** Sums rows while it writes the output of others; null if that does not pay. */
  final VectorKernel staggered;

  private final Kernels kernels;
  private volatile Kernel wideOutput;
  private volatile Rescaled rescaled;

  private ForwardPlan(ForwardCall call, int bits, MachineUse use, boolean start) {
    this.use = use;
    this.start = start;
    boolean paired = bits > 0 && call.isPaired();
    storage = new Storage(call.float64(), Kernels.narrow(bits, paired));
    kind = Kind.of(call, storage);
    NormChoices norm = call.choices();
    boolean whole = norm.part() == norm.width();
    forward =
        new Forward(
            storage,
            norm.spec(),
            kind.x,
            kind.residual,
            kind.onTheWay,
            kind.y,
            kind.cast,
            kind.gain,
            kind.bias);
    boolean asMachineCode = use != MachineUse.NONE && bits == 0;
    machine = asMachineCode ? MachineKernels.of(forward, norm, use) : null;
    columns = new EvenFirst(paired);
    kernels = new Kernels(bits, kind.memory(), norm.width(), paired);
    statistic = Statistic.of(forward, kernels, norm);
    roots = kernels.of(forward.roots(), 0);
    range = kernels.plain(forward.range());
    output = kernels.of(forward.output(), norm.width());
    staggered =
        whole && kind.direct ? kernels.staggered(forward.statistic(), forward.output()) : null;
  }

  /** Whether the residual holds the sum as soon as a row has been summed. */
  boolean isOnTheWay() {
    return kind.onTheWay;
  }

  /** The output of a float32 row whose statistic is out of the range of float32. */
  Kernel wideOutput() {
    if (wideOutput == null) {
      wideOutput = kernels.plain(forward.wideOutput());
    }
    return wideOutput;
  }

  /** For float64 rows whose squares are out of the range of float64. */
  Rescaled rescaled() {
    if (rescaled == null) {
      rescaled = new Rescaled(forward, kernels);
    }
    return rescaled;
  }

  /** The plan of a call: one of the norm's last ones if it fits. */
  public static ForwardPlan of(ForwardCall call, long rows, LastPlans<ForwardPlan> last) {
    boolean start = call.choices().isStart(rows);
    MachineUse use = start ? MachineUse.NONE : MachineUse.of(call, rows);
    for (int i = 0; i < LastPlans.KEPT; i++) {
      ForwardPlan plan = last.get(i);
      if (plan != null && plan.start == start && plan.use == use && plan.fits(call)) {
        return plan;
      }
    }
    return last.add(make(call, use, start));
  }

  private static ForwardPlan make(ForwardCall call, MachineUse use, boolean start) {
    if (start || use != MachineUse.NONE) {
      ForwardPlan plan = new ForwardPlan(call, 0, use, start);
      if (start || plan.machine != null) {
        return plan;
      }
    }
    return new ForwardPlan(call, call.choices().vectorBits().getAsInt(), use, false);
  }

  private boolean fits(ForwardCall call) {
    return kind.equals(Kind.of(call, storage));
  }
}
