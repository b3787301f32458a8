package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.backend.BackEnd;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Compiled;
import io.github.rmsnorm4j.internal.backend.EvenFirst;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import io.github.rmsnorm4j.internal.backend.Pool;
import io.github.rmsnorm4j.internal.backend.StagedProgram;
import io.github.rmsnorm4j.internal.backend.StagedRows;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Program.Extent;
import io.github.rmsnorm4j.internal.formula.Program.Step;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntSupplier;

/**
 * Kernels that were made from descriptions, with the Vector API.
 *
 * @param bits the width of a vector, 0 without the Vector API; slow to find
 */
public record VectorBackEnd(IntSupplier bits) implements BackEnd {
  /** Such vectors need so many operations for an exponential that the JIT leaves some in boxes. */
  private static final int SHORT = 128;

  private static final Pool<StagedRows> POOL = new Pool<>(StagedRows::new);

  /** A program; the staggered kernel is null where it does not pay. */
  private record Rows(StagedProgram program, VectorKernel staggered, EvenFirst columns)
      implements Compiled {
    @Override
    public Worker open(Call call) {
      StagedRows rows = StagedRows.open(POOL, call, program);
      return staggered == null ? rows : new StaggeredRows(rows, call, staggered);
    }

    @Override
    public void order(Object sums, int width) {
      columns.undo(sums, width);
    }
  }

  @Override
  public Compiled compile(Call call, OutputStores stores) throws Refusal {
    int bits = this.bits.getAsInt();
    if (bits == 0) {
      throw Refusal.ABSENT;
    }
    boolean paired = isPaired(call);
    Storage storage = call.storage(Kernels.narrow(bits, paired));
    Program program = call.program(storage);
    if (bits == SHORT && hasExponential(program)) {
      throw new Refusal("a loop with an exponential of 128-bit vectors is too large for the JIT");
    }
    int width = call.choices().width();
    Kernels kernels = new Kernels(bits, memory(call, storage), width, paired);
    EvenFirst columns = new EvenFirst(paired);
    List<Kernel> ofSteps = new ArrayList<>();
    for (Step step : program.steps()) {
      ofSteps.add(kernels.of(step.stage(), elements(step.extent(), call)));
    }
    StagedProgram staged =
        new StagedProgram(call, storage, program, ofSteps, kernels, columns, false);
    boolean staggers = call.choices().isWhole() && isDirect(call, storage);
    return new Rows(staged, staggers ? staggered(program, kernels) : null, columns);
  }

  private static boolean hasExponential(Program program) {
    return program.steps().stream().anyMatch(step -> step.stage().has(Value.Kind.POWER));
  }

  /** The elements that a kernel always serves; 0 if there is no such number. */
  private static int elements(Extent extent, Call call) {
    int width = call.choices().width();
    boolean whole = extent == Extent.PART || extent == Extent.ROW;
    return whole && width <= SumOrder.SUPER_BLOCK ? extent.to(width, call.choices().part()) : 0;
  }

  /** The sums of some rows together with the output of others. */
  private static VectorKernel staggered(Program program, Kernels kernels) {
    List<Step> steps = program.steps();
    boolean staggers = steps.size() == 3 && program.ranged() == 1;
    return staggers ? kernels.staggered(steps.getFirst().stage(), steps.getLast().stage()) : null;
  }

  /** Whether all rows are bfloat16, and no parameter of the call would have to be reordered. */
  private static boolean isPaired(Call call) {
    Set<ElementType> types = Set.copyOf(call.storage(Set.of()).types().values());
    boolean none = call.column(Forward.GAIN) == null && call.column(Forward.BIAS) == null;
    return types.equals(Set.of(ElementType.BFLOAT16))
        && call.choices().isWhole()
        && (call.ofNorm() != null || none);
  }

  private static boolean isDirect(Call call, Storage storage) {
    return storage.types().keySet().stream().allMatch(rows -> call.rows(rows).isDirect(storage));
  }

  private static Map<Tensor, Memory> memory(Call call, Storage storage) {
    Map<Tensor, Memory> memory = new TreeMap<>();
    for (Tensor tensor : storage.types().keySet()) {
      memory.put(tensor, call.rows(tensor).memory(storage));
    }
    return memory;
  }
}
