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
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.util.List;
import java.util.Set;

/**
 * Sums rows of which several owners have a part each, together with the other owners.
 *
 * @param plans of phases that sum rows; no back end of theirs stops before rows out of range
 */
public record SharedSums(Shard shard, Plans plans) {
  /**
   * Sums all rows of a checked call, in one phase after another.
   *
   * @param call of one owner; it is to be closed after the call that is returned
   * @return the call of the last phase, which computes the output of this owner. For float64 rows
   *     out of range it exchanges more numbers, so all owners do such rows in the same order
   */
  public Call run(Call call, long rows, int threads) {
    return new Phases(call, (int) rows, threads).run();
  }

  /** The phases of a call. */
  private final class Phases {
    private final Call call;
    private final int rows;
    private final int threads;

    /** By place: what is known of each row. */
    private final double[][] given;

    Phases(Call call, int rows, int threads) {
      this.call = call;
      this.rows = rows;
      this.threads = threads;
      boolean none = call.given() == null;
      given = none ? new double[Tensor.Access.ROW.places()][] : call.given().clone();
    }

    Call run() {
      Formula whole = call.formula();
      for (int phase = 0; ; phase++) {
        SplitFormula formula = new SplitFormula(whole, shard.rowWidth(), phase);
        Program program = formula.program(call.storage(Set.of()), 0, 0, false);
        Program.Step last = program.steps().getLast();
        if (last.stage().sums().isEmpty() && last.extent() != Extent.FIRST) {
          return call.phase(formula, given, BlockLanes.ofEachRow(shard));
        }
        int sums = last.stage().sums().size();
        BlockLanes lanes = BlockLanes.ofAllRows(shard, rows, sums, kept(program.steps()));
        Call ofPhase = call.phase(formula, given, lanes);
        if (last.extent() == Extent.FIRST) {
          first(ofPhase, last.stage());
        } else {
          Runner.run(ofPhase, plans, rows, threads);
          lanes.exchange();
          add(lanes, last.stage().sums());
        }
      }
    }

    /** Arrays for what the steps of a phase keep. */
    private double[][] kept(List<Program.Step> steps) {
      double[][] kept = new double[given.length][];
      for (Program.Step step : steps) {
        for (Stage.Statement statement : step.stage().statements()) {
          if (statement instanceof Stage.Keep keep) {
            kept[keep.number().place()] = new double[rows];
            given[keep.number().place()] = kept[keep.number().place()];
          }
        }
      }
      return kept;
    }

    /** The owner of the first elements gives the number that comes from them to the others. */
    private void first(Call ofPhase, Stage stage) {
      boolean has = shard.from() == 0;
      if (has) {
        Runner.run(ofPhase, plans, rows, threads);
      }
      Stage.Keep keep = (Stage.Keep) stage.statements().getFirst();
      shard.exchange().gather(given[keep.number().place()], has ? 0 : rows, rows);
    }

    /** Adds the lanes of all owners. */
    private void add(BlockLanes lanes, List<Stage.Sum> sums) {
      try (Frame frame = new Frame()) {
        for (Stage.Sum sum : sums) {
          given[sum.number().place()] = new double[rows];
        }
        for (int row = 0; row < rows; row++) {
          RowSum.open(frame);
          lanes.add(frame, row);
          RowSum.close(frame, sums, false);
          for (Stage.Sum sum : sums) {
            given[sum.number().place()][row] = frame.of(sum.number())[0];
          }
        }
      }
    }
  }
}
