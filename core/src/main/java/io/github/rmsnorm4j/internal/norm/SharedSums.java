package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.BlockLanes;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Shard;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Program.Extent;
import io.github.rmsnorm4j.internal.formula.SplitFormula;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Sums rows of which several owners have a part each, together with the other owners.
 *
 * @param known the phases of formulas that were asked for before, of the same width of rows
 */
public record SharedSums(Shard shard, Map<Formula, List<Program>> known) {
  /**
   * Sums all rows of a checked call, in one phase after another.
   *
   * @param call of one owner; it copies nothing, and so need not be closed
   * @return the call of the last phase, which computes the output of this owner. For float64 rows
   *     out of range it exchanges more numbers, so all owners do such rows in the same order
   */
  public Call run(Call call, Plans plans, long rows, int threads) {
    return new Phases(call, plans, (int) rows, threads).run();
  }

  private List<Program> phases(Call call) {
    List<Program> phases = known.get(call.formula());
    if (phases == null) {
      phases = SplitFormula.phases(call.formula(), shard.rowWidth(), call.storage(Set.of()));
      known.put(call.formula(), phases);
    }
    return phases;
  }

  /** The phases of a call. */
  private final class Phases {
    private final Call call;
    private final Plans plans;
    private final int rows;
    private final int threads;

    /** By place: what is known of each row. */
    private final double[][] given;

    Phases(Call call, Plans plans, int rows, int threads) {
      this.call = call;
      this.plans = plans;
      this.rows = rows;
      this.threads = threads;
      double[][] known = call.given();
      given = known == null ? new double[Tensor.Access.ROW.places()][] : known.clone();
    }

    Call run() {
      int last = phases(call).size() - 1;
      for (int phase = 0; phase < last && rows > 0; phase++) {
        Program program = phases(call).get(phase);
        Program.Step shared = program.steps().getLast();
        int sums = shared.stage().sums().size();
        BlockLanes lanes = BlockLanes.ofAllRows(shard, rows, sums, kept(program));
        if (shared.extent() == Extent.FIRST) {
          first(phase(phase, lanes), shared.stage());
        } else {
          sum(phase(phase, lanes));
          lanes.exchange();
          shared.stage().sums().forEach(sum -> given[sum.number().place()] = new double[rows]);
          lanes.add(shared.stage().sums(), given);
        }
      }
      return phase(last, BlockLanes.ofEachRow(shard));
    }

    private Call phase(int phase, BlockLanes lanes) {
      return call.phase(new SplitFormula(call.formula(), shard.rowWidth(), phase), given, lanes);
    }

    /** Arrays for what the steps of a phase keep. */
    private double[][] kept(Program program) {
      double[][] kept = new double[given.length][];
      for (Program.Step step : program.steps()) {
        for (Stage.Statement statement : step.stage().statements()) {
          if (statement instanceof Stage.Keep keep) {
            kept[keep.number().place()] = new double[rows];
            given[keep.number().place()] = kept[keep.number().place()];
          }
        }
      }
      return kept;
    }

    private void sum(Call ofPhase) {
      try (ofPhase) {
        Runner.run(ofPhase, plans, rows, threads);
      }
    }

    /** The owner of the first elements gives the number that comes from them to the others. */
    private void first(Call ofPhase, Stage stage) {
      boolean has = shard.from() == 0;
      if (has) {
        sum(ofPhase);
      }
      Stage.Keep keep = (Stage.Keep) stage.statements().getFirst();
      shard.exchange().gather(given[keep.number().place()], has ? 0 : rows, rows);
    }
  }
}
