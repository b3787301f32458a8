package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.BackEnd;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Columns;
import io.github.rmsnorm4j.internal.backend.Compiled;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.backend.StagedProgram;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Program.Extent;
import io.github.rmsnorm4j.internal.formula.Program.Step;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import io.github.rmsnorm4j.internal.machine.Shortage;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Kernels of machine code. One kernel does all steps of a row, or each step of a piece of a row has
 * one: if the row is longer than a super-block, or in part outside of the statistic.
 *
 * @param bits the width of a vector, 0 without machine code; found by a native call
 * @param vectorBits the width of a vector of the Vector API, 0 without; it does what it is faster
 *     at. Null where machine code does all that it can
 */
public record MachineBackEnd(IntSupplier bits, IntSupplier vectorBits) implements BackEnd {
  @Override
  public Compiled compile(Call call, OutputStores stores) throws Refusal {
    int bits = this.bits.getAsInt();
    if (bits == 0) {
      throw Shortage.wasLately() ? new Refusal(Shortage.MESSAGE, true) : Refusal.ABSENT;
    }
    requireReached(call);
    Storage storage = storage(call);
    Program program = call.program(storage);
    int width = call.choices().width();
    boolean inPieces = width > SumOrder.SUPER_BLOCK || program.isDivided();
    boolean backward = call.rows(Backward.DY) != null;
    boolean slower = backward ? inPieces || call.float64() : inPieces && call.float64();
    if (slower && vectorBits != null && vectorBits.getAsInt() > 0) {
      throw new Refusal("the Vector API is faster");
    }
    if (!inPieces) {
      List<Stage> stages = new ArrayList<>();
      for (Step step : program.steps()) {
        stages.add(step.stage());
      }
      int whole = call.choices().isWhole() ? width : 0;
      return new WholeRows.OneKernel(
          required(kernel(stages, bits, whole, stores, call.period() < Long.MAX_VALUE)));
    }
    List<Kernel> kernels = new ArrayList<>();
    for (Step step : program.steps()) {
      // Another extent than the row may begin where the output is not aligned.
      boolean streams = step == program.steps().getLast() && step.extent() == Extent.ROW;
      OutputStores ofStep = streams ? stores : OutputStores.CACHED;
      kernels.add(
          step.extent() == Extent.NUMBERS
              ? new PlainKernel(step.stage(), 0)
              : new PieceKernel(
                  step.stage(), required(kernel(List.of(step.stage()), bits, 0, ofStep, false))));
    }
    return new RowsInPieces.KernelOfEachStep(
        new StagedProgram(call, storage, program, kernels, null, Columns.NATURAL, false));
  }

  /** A gate before the norm takes long, so it is computed once where one kernel does the row. */
  private static Storage storage(Call call) {
    Storage storage = call.storage(PlainBackEnd.NARROW);
    boolean isLong = call.choices().width() > SumOrder.SUPER_BLOCK;
    return isLong ? storage : call.formula().passing(storage);
  }

  /** Memory that has to be copied is not served, nor are float64 and other types together. */
  private static void requireReached(Call call) throws Refusal {
    for (Tensor tensor : call.formula().rows()) {
      RowMemory rows = call.rows(tensor);
      if (rows != null && rows.access() == RowMemory.Access.CHECKED) {
        throw new Refusal(tensor + " is in memory that is copied");
      }
      if (rows != null && (rows.type() == ElementType.FLOAT64) != call.float64()) {
        throw new Refusal(tensor + " is " + rows.type() + ", x is not");
      }
    }
  }

  private static MachineKernel kernel(
      List<Stage> stages, int bits, int width, OutputStores stores, boolean periods) {
    boolean streams =
        stores == OutputStores.STREAMED
            || stores == OutputStores.STREAMED_UNALIGNED
                && MachineKernel.peels(stages, bits, width);
    return MachineKernel.of(stages, bits, width, streams, periods);
  }

  private static MachineKernel required(MachineKernel kernel) throws Refusal {
    if (kernel == null) {
      throw new Refusal("a kernel has no machine code, a warning says why", Shortage.wasLately());
    }
    return kernel;
  }
}
