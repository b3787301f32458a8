package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.StripAccess;
import io.github.rmsnorm4j.internal.kernel.Strips;
import java.util.ArrayList;
import java.util.List;

/** Runs the loops of a stage on strips of elements, which are copied from and to the rows. */
final class LoopStrips {
  /** A strip that is copied from rows or columns. */
  private record Read(int array, int slot, ElementType type, boolean ofColumns) {}

  /**
   * What a statement does with a strip.
   *
   * @param slot of the rows that it stores or the columns that it adds to
   * @param type of the rows; null for sums
   * @param lane the first lane of a row sum; -1 for other statements
   */
  private record Result(int array, boolean doubles, int slot, ElementType type, int lane) {
    /** Whether it adds to sums of columns. */
    boolean adds() {
      return type == null && lane < 0;
    }
  }

  private final Loops loops;
  private final LoopPlan.Array[] arrays;
  private final Read[] reads;
  private final LoopPlan.Rounded[][] rounded;
  private final Result[] results;

  LoopStrips(LoopPlan plan, Loops loops) {
    this.loops = loops;
    arrays = plan.arrays().toArray(LoopPlan.Array[]::new);
    List<Read> reads = new ArrayList<>();
    for (int k = 0; k < arrays.length; k++) {
      if (arrays[k].kind() != LoopPlan.Kind.SAVED) {
        boolean ofColumns = arrays[k].kind() == LoopPlan.Kind.COLUMNS;
        reads.add(new Read(k, plan.slot(k), arrays[k].value().type(), ofColumns));
      }
    }
    this.reads = reads.toArray(Read[]::new);
    int rounds = plan.stage().hasElements() ? plan.rounds().size() : 0;
    rounded = new LoopPlan.Rounded[rounds][];
    for (int r = 0; r < rounds; r++) {
      rounded[r] = plan.rounds().get(r).rounded().toArray(LoopPlan.Rounded[]::new);
    }
    results = results(plan).toArray(Result[]::new);
  }

  private static List<Result> results(LoopPlan plan) {
    List<Result> results = new ArrayList<>();
    int lane = 0;
    for (int s = 0; s < plan.results().length; s++) {
      int k = plan.results()[s];
      boolean doubles = k >= 0 && plan.arrays().get(k).doubles();
      switch (plan.stage().statements().get(s)) {
        case Stage.Sum sum -> {
          results.add(new Result(k, doubles, -1, null, lane));
          lane += SumOrder.LANES;
        }
        case Stage.ColumnSum sum ->
            results.add(new Result(k, doubles, sum.column().slot(), null, -1));
        case Stage.Store store ->
            results.add(new Result(k, doubles, store.rows().slot(), store.type(), -1));
        default -> {}
      }
    }
    return results;
  }

  /** Makes the strips of a frame that are not there. */
  void prepare(Frame frame) {
    for (int k = 0; k < arrays.length; k++) {
      if (arrays[k].doubles()) {
        if (frame.doubleStrips[k] == null) {
          frame.doubleStrips[k] = new double[Strips.STRIP];
        }
      } else if (frame.floatStrips[k] == null) {
        frame.floatStrips[k] = new float[Strips.STRIP];
      }
    }
  }

  /**
   * Does elements of a row, all in one block if they are summed.
   *
   * @param at the index of element 0 in all arrays with rows; -1 to copy rows
   */
  void run(Frame frame, int row, int from, int to, int at) {
    for (int i = from; i < to; i += Strips.STRIP) {
      int n = Math.min(Strips.STRIP, to - i);
      if (at < 0) {
        strip(frame, row, i, n);
      } else {
        columns(frame, i, n);
        reach(frame, row, n, at + i);
        sumsOfColumns(frame, i, n);
      }
    }
  }

  /** Reads strips of columns, and of the sums that are added to. */
  void columns(Frame frame, int i, int n) {
    for (Read read : reads) {
      if (read.ofColumns) {
        StripAccess.column(frame, read.slot, i, frame.doubleStrips[read.array], n);
      }
    }
    for (Result result : results) {
      if (result.adds()) {
        StripAccess.column(frame, result.slot, i, frame.doubleStrips[result.array], n);
      }
    }
  }

  /** Writes strips of the sums that were added to. */
  void sumsOfColumns(Frame frame, int i, int n) {
    for (Result result : results) {
      if (result.adds()) {
        StripAccess.setColumn(frame, result.slot, i, frame.doubleStrips[result.array], n);
      }
    }
  }

  /**
   * Does elements of a row where they are, of which the strips of columns have the columns.
   *
   * @param at the index of the first one in all arrays with rows
   */
  void reach(Frame frame, int row, int n, int at) {
    loops.direct(frame, false, row, row + 1, at, 0, n);
    for (Result result : results) {
      addToLanes(frame, result, 0, n);
    }
  }

  private void strip(Frame frame, int row, int i, int n) {
    columns(frame, i, n);
    for (Read read : reads) {
      if (!read.ofColumns) {
        read(frame, read, row, i, n);
      }
    }
    int done = 0;
    if (loops.hasLanes() && n >= SumOrder.LANES) {
      done = n & -SumOrder.LANES;
      loops.lanes(frame, row, 0, done, false);
    }
    if (done < n) {
      for (int r = 0; r < rounded.length; r++) {
        loops.loop(r, frame, row, done, n - done);
        for (LoopPlan.Rounded of : rounded[r]) {
          round(frame, of, n);
        }
      }
      for (Result result : results) {
        addToLanes(frame, result, done, n);
        store(frame, result, row, i, n);
      }
      sumsOfColumns(frame, i, n);
    }
  }

  private static void read(Frame frame, Read read, int row, int i, int n) {
    int k = read.array;
    if (read.type == ElementType.FLOAT64) {
      StripAccess.load(frame, read.slot, row, i, frame.doubleStrips[k], n);
    } else {
      StripAccess.load(frame, read.slot, read.type, row, i, frame.floatStrips[k], n);
    }
  }

  private void round(Frame frame, LoopPlan.Rounded of, int n) {
    Value value = of.value();
    boolean power = value.kind() == Value.Kind.POWER;
    if (power && value.float64()) {
      frame.strips.power(frame.doubleStrips[of.from()], frame.doubleStrips[of.to()], n);
      return;
    }
    if (value.float64()) {
      Strips.cast(frame.doubleStrips[of.from()], value.type(), frame.doubleStrips[of.to()], n);
      return;
    }
    float[] into = frame.floatStrips[of.to()];
    float[] from = frame.floatStrips[of.from()];
    if (arrays[of.from()].doubles()) {
      // A float32 column, which is widened.
      Strips.round(frame.doubleStrips[of.from()], into, n);
      from = into;
    }
    if (power) {
      frame.strips.power(from, into, n);
    } else {
      frame.strips.cast(from, value.type(), into, n);
    }
  }

  private static void addToLanes(Frame frame, Result result, int from, int n) {
    if (result.lane >= 0) {
      double[] terms = frame.doubleStrips[result.array];
      Strips.addToLanes(terms, from, frame.sumLanes, result.lane, n - from);
    }
  }

  private static void store(Frame frame, Result result, int row, int i, int n) {
    if (result.type == null) {
      return;
    }
    Object strip =
        result.doubles ? frame.doubleStrips[result.array] : frame.floatStrips[result.array];
    StripAccess.store(frame, result.slot, result.type, row, i, strip, n);
  }
}
