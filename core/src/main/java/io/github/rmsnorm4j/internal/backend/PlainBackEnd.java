package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import java.util.Set;
import java.util.function.Function;

/** Plain Java. It runs every program, and needs no class that is made first. */
public final class PlainBackEnd implements BackEnd {
  private static final Staging.Pool<StagedRows> POOL = new Staging.Pool<>(StagedRows::new);

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
  public Rows compile(Call call, Stores stores) {
    Storage storage = call.storage(NARROW);
    Program program = call.program(storage);
    Function<Stage, Kernel> kernels = stage -> new PlainKernel(stage, 0);
    return new Rows(
        StagedProgram.ofAllRows(
            call,
            storage,
            program,
            program.steps().stream().map(step -> kernels.apply(step.stage())).toList(),
            kernels,
            new EvenFirst(false)));
  }
}
