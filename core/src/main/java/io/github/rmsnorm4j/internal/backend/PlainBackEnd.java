package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import io.github.rmsnorm4j.internal.kernel.PlainKernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Plain Java. It runs every program, and needs no class that is made first. */
public final class PlainBackEnd implements BackEnd, PlainKernels {
  private static final Pool<StagedRows> POOL = new Pool<>(StagedRows::new);

  /** The 16-bit types that it reads and writes itself. */
  public static final Set<ElementType> NARROW = Set.of(ElementType.FLOAT16, ElementType.BFLOAT16);

  /** A program in plain Java, which also continues with rows of others. */
  public record Rows(StagedProgram program) implements Compiled {
    @Override
    public StagedRows open(Call call) {
      return StagedRows.open(POOL, call, program);
    }
  }

  @Override
  public Rows compile(Call call, OutputStores stores) {
    Storage storage = call.storage(NARROW);
    Program program = call.program(storage);
    List<Kernel> kernels = new ArrayList<>();
    for (Program.Step step : program.steps()) {
      kernels.add(plain(step.stage()));
    }
    return new Rows(
        new StagedProgram(call, storage, program, kernels, this, Columns.NATURAL, false));
  }

  @Override
  public Kernel plain(Stage stage) {
    return new PlainKernel(stage, 0);
  }
}
