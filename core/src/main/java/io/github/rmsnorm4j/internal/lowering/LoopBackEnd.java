package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.backend.BackEnd;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Columns;
import io.github.rmsnorm4j.internal.backend.Compiled;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.backend.Pool;
import io.github.rmsnorm4j.internal.backend.StagedProgram;
import io.github.rmsnorm4j.internal.backend.StagedRows;
import io.github.rmsnorm4j.internal.backend.Worker;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Java loops, made from descriptions; they need no flag. */
public final class LoopBackEnd implements BackEnd {
  private static final Pool<StagedRows> POOL = new Pool<>(StagedRows::new);
  private static final ConcurrentHashMap<Stage, LoopKernel> MADE = new ConcurrentHashMap<>();

  private record Rows(StagedProgram program) implements Compiled {
    @Override
    public Worker open(Call call) {
      return StagedRows.open(POOL, call, program);
    }
  }

  @Override
  public Compiled compile(Call call, OutputStores stores) throws Refusal {
    Storage storage = call.storage(Set.of());
    Program program = call.program(storage);
    List<Kernel> kernels = new ArrayList<>();
    for (Program.Step step : program.steps()) {
      LoopKernel kernel = kernel(step.stage());
      if (kernel == null) {
        throw new Refusal("a stage needs too many arrays");
      }
      kernels.add(kernel);
    }
    return new Rows(
        new StagedProgram(
            call, storage, program, kernels, new PlainBackEnd(), Columns.WIDENED, true));
  }

  /** The kernel of a stage, made once; null if it needs too many arrays. */
  private static LoopKernel kernel(Stage stage) {
    LoopKernel kernel = MADE.get(stage);
    if (kernel == null) {
      // Not in the lock of the map, where a thread that gets no memory leaves others waiting.
      LoopKernel made = LoopKernel.of(stage);
      LoopKernel first = made == null ? null : MADE.putIfAbsent(stage, made);
      kernel = first == null ? made : first;
    }
    return kernel;
  }
}
