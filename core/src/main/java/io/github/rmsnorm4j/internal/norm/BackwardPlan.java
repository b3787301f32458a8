package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.lowering.Kernels;
import java.util.EnumMap;
import java.util.Map;

/** The kernels of one kind of backward call. */
public final class BackwardPlan {
  /** What kernels depend on, beside the norm. */
  private record Kind(
      ElementType dy,
      Memory dyMemory,
      ElementType kept,
      Memory keptMemory,
      boolean fromOutput,
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
          residual == null ? null : residual.type(),
          residual == null ? null : RowAccess.memory(residual, storage),
          call.dx().type(),
          RowAccess.memory(call.dx(), storage),
          call.gain() != null,
          call.bias() != null,
          call.keptParameters(),
          call.gainGradient(),
          call.biasGradient());
    }

    Map<Operand, Memory> memory() {
      Map<Operand, Memory> memory = new EnumMap<>(Operand.class);
      memory.put(Operand.X, keptMemory);
      memory.put(Operand.DY, dyMemory);
      memory.put(Operand.RESIDUAL, residualMemory);
      memory.put(Operand.DX, dxMemory);
      return memory;
    }

    Backward formula(Storage storage, NormChoices norm) {
      return new Backward(
          storage,
          norm.centred(),
          norm.placement(),
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
  private final int bits;
  final Storage storage;

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

  /** The kernels of rows whose statistic is known. */
  record Rows(Kernel sums, Kernel means, Kernel output) {}

  private BackwardPlan(Kind kind, int bits, boolean paired, Storage storage, NormChoices norm) {
    this.kind = kind;
    this.bits = bits;
    this.storage = storage;
    columns = new EvenFirst(paired);
    kernels = new Kernels(bits, kind.memory(), norm.width(), paired);
    formula = kind.formula(storage, norm);
    Forward forward = Forward.ofKept(storage, norm.centred(), norm.placement(), kind.kept);
    statistic = Statistic.of(forward, kernels, norm);
    roots = kernels.of(forward.roots(), 0);
    range = kernels.of(forward.range(), 0);
    int elements = norm.part() == norm.width() ? norm.width() : 0;
    usual =
        new Rows(
            kernels.of(formula.sums(), norm.width()),
            kernels.of(formula.means(), 0),
            kernels.of(formula.output(), elements));
    rescaled = storage.float64() ? new Rescaled(forward, kernels) : null;
  }

  /** The kernels of float32 rows whose statistic is out of float32's range. */
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
    int bits = call.choices().vectorBits(rows);
    for (int i = 0; i < LastPlans.KEPT; i++) {
      BackwardPlan plan = last.get(i);
      if (plan != null && plan.bits == bits && plan.kind.equals(Kind.of(call, plan.storage))) {
        return plan;
      }
    }
    boolean paired = bits > 0 && call.isPaired();
    Storage storage = new Storage(call.float64(), Kernels.narrow(bits, paired));
    return last.add(
        new BackwardPlan(Kind.of(call, storage), bits, paired, storage, call.choices()));
  }
}
