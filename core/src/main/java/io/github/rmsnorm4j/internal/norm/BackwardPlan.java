package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.lowering.Kernels;
import io.github.rmsnorm4j.internal.lowering.machine.MachineKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The kernels of one kind of backward call. */
public final class BackwardPlan {
  /** What kernels depend on, apart from the choices of the norm. */
  private record Kind(
      ElementType dy,
      Memory dyMemory,
      ElementType kept,
      Memory keptMemory,
      boolean fromOutput,
      boolean keptStatistic,
      ElementType residual,
      Memory residualMemory,
      ElementType dx,
      Memory dxMemory,
      boolean gain,
      boolean bias,
      boolean keptParameters,
      boolean gainGradient,
      boolean biasGradient) {
    static Kind of(BackwardCall call, Storage storage) {
      RowMemory residual = call.residual();
      return new Kind(
          call.dy().type(),
          RowAccess.memory(call.dy(), storage),
          call.kept().type(),
          RowAccess.memory(call.kept(), storage),
          call.fromOutput(),
          call.rstd() != null,
          residual == null ? null : residual.type(),
          residual == null ? null : RowAccess.memory(residual, storage),
          call.dx().type(),
          RowAccess.memory(call.dx(), storage),
          call.gain() != null,
          call.bias() != null,
          call.ofNorm() != null,
          call.gainGradient(),
          call.biasGradient());
    }

    Map<Tensor, Memory> memory() {
      Map<Tensor, Memory> memory = new TreeMap<>();
      memory.put(Forward.X, keptMemory);
      memory.put(Backward.DY, dyMemory);
      memory.put(Forward.RESIDUAL, residualMemory);
      memory.put(Backward.DX, dxMemory);
      return memory;
    }

    Backward formula(Storage storage, NormChoices norm) {
      return new Backward(
          storage,
          norm.spec(),
          kept,
          fromOutput,
          dy,
          residual,
          dx,
          gain,
          bias,
          gainGradient,
          biasGradient,
          false);
    }
  }

  private final Kind kind;

  /** Whether it is for the start of a process. */
  private final boolean start;

  final Storage storage;

  /** The backward pass as machine code; null without, and for rows that it does in pieces. */
  final MachineKernel machine;

  /** Whether machine code was wanted; it may not be possible. */
  private final boolean machineCode;

  final EvenFirst columns;

  final Statistic statistic;
  final Kernel roots;

  /** The range of a statistic that was kept. */
  final Kernel range;

  final Rows usual;
  final Rescaled rescaled;

  private final Kernels kernels;
  private final Backward formula;
  private volatile Rows wide;

  /**
   * Machine code for pieces of rows that are longer than a super-block, or in part outside of the
   * statistic; null without.
   */
  final Pieces pieces;

  /**
   * Kernels of machine code for pieces of rows.
   *
   * @param shift LayerNorm's x0; null without, and for a statistic that was kept
   * @param statistic null for a statistic that was kept
   */
  record Pieces(
      MachineKernel shift, MachineKernel statistic, MachineKernel sums, MachineKernel output) {}

  /** Null where there is no machine code for one of them. */
  private Pieces pieces(Forward forward, NormChoices norm) {
    boolean summed = !kind.keptStatistic;
    boolean shifted = summed && norm.isCentred();
    MachineKernel shift = shifted ? piece(forward.shift(), norm) : null;
    MachineKernel statistic = summed ? piece(forward.pieceStatistic(), norm) : null;
    MachineKernel sums = piece(formula.sums(), norm);
    MachineKernel output = piece(formula.output(), norm);
    boolean known = (shift != null || !shifted) && (statistic != null || !summed);
    return known && sums != null && output != null
        ? new Pieces(shift, statistic, sums, output)
        : null;
  }

  private static MachineKernel piece(Part part, NormChoices norm) {
    return MachineKernel.of(List.of(part), norm.machineBits().getAsInt(), 0, false);
  }

  private MachineKernel machine(Forward forward, NormChoices norm) {
    List<Part> parts = new ArrayList<>();
    if (!kind.keptStatistic) {
      parts.addAll(List.of(forward.statistic(), forward.roots()));
    } else if (!storage.float64()) {
      parts.add(forward.keptRange());
    }
    parts.addAll(List.of(formula.sums(), formula.means(), formula.output()));
    return MachineKernel.of(parts, norm.machineBits().getAsInt(), norm.width(), false);
  }

  /** The kernels of rows whose statistic is known. */
  record Rows(Kernel sums, Kernel means, Kernel output) {}

  private BackwardPlan(BackwardCall call, int bits, boolean machineCode, boolean start) {
    this.start = start;
    this.machineCode = machineCode;
    NormChoices norm = call.choices();
    boolean paired = bits > 0 && call.isPaired();
    storage = new Storage(call.float64(), Kernels.narrow(bits, paired));
    kind = Kind.of(call, storage);
    columns = new EvenFirst(paired);
    kernels = new Kernels(bits, kind.memory(), norm.width(), paired);
    formula = kind.formula(storage, norm);
    Forward forward = Forward.ofKept(storage, norm.spec(), kind.kept);
    boolean one = isOneKernel(norm);
    machine = machineCode && bits == 0 && one ? machine(forward, norm) : null;
    pieces = machineCode && bits == 0 && !one ? pieces(forward, norm) : null;
    statistic = Statistic.of(forward, kernels, norm);
    roots = kernels.of(forward.roots(), 0);
    range = kernels.of(forward.keptRange(), 0);
    int elements = norm.part() == norm.width() ? norm.width() : 0;
    usual =
        new Rows(
            kernels.of(formula.sums(), norm.width()),
            kernels.of(formula.means(), 0),
            kernels.of(formula.output(), elements));
    rescaled = storage.float64() ? new Rescaled(forward, kernels) : null;
  }

  /** Whether machine code does the rows that are in range. */
  boolean isMachineCode() {
    return machine != null || pieces != null;
  }

  /** The kernels of float32 rows whose statistic is out of the range of float32. */
  Rows wide() {
    if (wide == null) {
      Backward ofWide = formula.ofWideRows();
      wide =
          new Rows(
              kernels.plain(ofWide.sums()),
              kernels.plain(ofWide.means()),
              kernels.plain(ofWide.output()));
    }
    return wide;
  }

  /** The plan of a call: one of the norm's last ones if it fits. */
  public static BackwardPlan of(BackwardCall call, long rows, LastPlans<BackwardPlan> last) {
    boolean start = call.choices().isStart(rows);
    boolean machineCode = !start && canBeMachineCode(call);
    for (int i = 0; i < LastPlans.KEPT; i++) {
      BackwardPlan plan = last.get(i);
      boolean same = plan != null && plan.start == start && plan.machineCode == machineCode;
      if (same && plan.kind.equals(Kind.of(call, plan.storage))) {
        return plan;
      }
    }
    return last.add(make(call, machineCode, start));
  }

  private static BackwardPlan make(BackwardCall call, boolean machineCode, boolean start) {
    if (start || machineCode) {
      BackwardPlan plan = new BackwardPlan(call, 0, machineCode, start);
      if (start || plan.isMachineCode()) {
        return plan;
      }
    }
    return new BackwardPlan(call, call.choices().vectorBits().getAsInt(), machineCode, false);
  }

  /**
   * Not for memory that has to be copied. Vectors, if they are there, are faster for float64 and
   * for rows that machine code does in pieces.
   */
  private static boolean canBeMachineCode(BackwardCall call) {
    NormChoices norm = call.choices();
    boolean float64 = call.float64();
    return norm.machineBits().getAsInt() > 0
        && MachineUse.isRead(call.kept(), float64)
        && MachineUse.isRead(call.dy(), float64)
        && MachineUse.isRead(call.dx(), float64)
        && (call.residual() == null || MachineUse.isRead(call.residual(), float64))
        && (isOneKernel(norm) && !float64 || !norm.prefersVectors());
  }

  /** Whether one kernel of machine code does whole rows. */
  private static boolean isOneKernel(NormChoices norm) {
    return norm.part() == norm.width() && norm.width() <= RowSum.SUPER_BLOCK;
  }
}
