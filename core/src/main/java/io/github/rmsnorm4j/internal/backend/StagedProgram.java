package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Program.Extent;
import io.github.rmsnorm4j.internal.formula.Program.Rescaling;
import io.github.rmsnorm4j.internal.formula.Program.Step;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.PlainKernels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A program with one kernel for each step. Several threads may use it at once. */
public final class StagedProgram {
  /**
   * A step with its kernel.
   *
   * @param reads the places of the rows that it reads
   * @param writes the places of the rows that it writes
   * @param sums whether it sums elements of a row
   */
  record Ready(Extent extent, Kernel kernel, int[] reads, int[] writes, boolean sums) {
    static Ready of(Stage stage, Extent extent, Kernel kernel) {
      int[] reads = places(stage.read().keySet());
      int[] writes = places(stage.written().keySet());
      return new Ready(extent, kernel, reads, writes, !stage.sums().isEmpty());
    }

    private static int[] places(Collection<Tensor> tensors) {
      int[] places = new int[tensors.size()];
      int count = 0;
      for (Tensor tensor : tensors) {
        if (tensor.access() == Tensor.Access.ELEMENT) {
          places[count++] = tensor.place();
        }
      }
      return Arrays.copyOf(places, count);
    }
  }

  /**
   * Rows of the calls.
   *
   * @param stored the type in which kernels find them
   * @param inPlace whether kernels access them where the caller has them
   * @param copies the place of the arrays that they are copied to
   */
  record Operand(Tensor tensor, ElementType stored, boolean inPlace, int copies) {}

  final Operand[] operands;
  final Columns columns;

  /** Whether kernels of whole rows access all of them where the caller has them. */
  final boolean isInPlace;

  final Ready[] steps;

  /** The place of the step with ranges. */
  final int ranged;

  private final Program program;

  /** Makes kernels for rows that are out of range; null where others do such rows. */
  private final @Nullable PlainKernels plain;

  private volatile Ready @Nullable [] wide;
  private volatile @Nullable Rescaled rescaled;

  /**
   * A program with its kernels.
   *
   * @param call one of the calls that it is for
   * @param kernels of the steps, in order
   * @param plain makes the kernel of a stage of rows that are out of range. Null for a program that
   *     stops before such rows; its kernels know the rows of the call themselves, and do one row at
   *     a time
   * @param columns how the kernels read columns
   * @param arraysOnly whether the kernels read and write arrays only, so that rows in native memory
   *     are copied
   */
  public StagedProgram(
      Call call,
      Storage storage,
      Program program,
      List<Kernel> kernels,
      @Nullable PlainKernels plain,
      Columns columns,
      boolean arraysOnly) {
    this.program = program;
    this.plain = plain;
    this.columns = columns;
    operands = new Operand[storage.types().size()];
    int k = 0;
    boolean isInPlace = doesAllRows();
    for (Tensor tensor : storage.types().keySet()) {
      operands[k] = operand(tensor, call, storage, arraysOnly);
      isInPlace &= operands[k++].inPlace();
    }
    this.isInPlace = isInPlace;
    steps = ready(program.steps(), kernels);
    ranged = program.ranged();
  }

  /** An output may take the place of the input in one array, as it may in memory. */
  private Operand operand(Tensor tensor, Call call, Storage storage, boolean arraysOnly) {
    RowMemory rows = call.rowsOf(tensor);
    boolean reached = !arraysOnly || rows.access() == RowMemory.Access.ARRAY;
    boolean inPlace = !doesAllRows() || reached && rows.isDirect(storage);
    Tensor copies = tensor.equals(call.formula().output()) ? Forward.X : tensor;
    return new Operand(tensor, storage.of(rows.type()), inPlace, copies.place());
  }

  private static Ready[] ready(List<Step> steps, List<Kernel> kernels) {
    Ready[] ready = new Ready[steps.size()];
    for (int s = 0; s < ready.length; s++) {
      ready[s] = Ready.of(steps.get(s).stage(), steps.get(s).extent(), kernels.get(s));
    }
    return ready;
  }

  /** Whether it does rows that are out of range, too. */
  boolean doesAllRows() {
    return plain != null;
  }

  private PlainKernels plain() {
    return Objects.requireNonNull(plain, "others do rows that are out of range");
  }

  /** The steps of a float32 row that is out of range, after the one with ranges. */
  Ready[] wide() {
    if (wide == null) {
      List<Step> steps = Objects.requireNonNull(program.wide(), "rows are rescaled");
      List<Kernel> kernels = new ArrayList<>();
      for (Step step : steps) {
        kernels.add(plain().plain(step.stage()));
      }
      wide = ready(steps, kernels);
    }
    return wide;
  }

  /** For a float64 row that is out of range. */
  Rescaled rescaled() {
    if (rescaled == null) {
      Rescaling rescaling = Objects.requireNonNull(program.rescaling(), "rows are not rescaled");
      rescaled = new Rescaled(rescaling, plain());
    }
    return rescaled;
  }
}
