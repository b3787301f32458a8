package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Runs a kernel on a few rows of its own before it serves a call: its bits have to be those of
 * plain Java. Some elements are subnormal. A kernel for rows of any width gets rows of two blocks
 * and an end of each length. The root of one row is below epsilon, since choices depend on that. A
 * row with a NaN, or with numbers that are NaN, has to be refused: first the last row, then an
 * earlier one among those that go through the stages together. In float64 that one has an element
 * whose square overflows.
 *
 * <p>Plain Java has its bits in the contract's state of the floating-point unit only. The thread
 * may be in another one, so both run in the contract's.
 */
final class Trial implements AutoCloseable {
  /** Two blocks, a group of 32, and an end of 16, 8, 4, 2 and 1. */
  private static final int WIDTH = 2 * SumOrder.BLOCK + SumOrder.LANES + 31;

  /** Elements of a row that its statistic is not of, as in partial norms. */
  private static final int UNSUMMED = 1000;

  /**
   * Of a norm whose rstd is rounded to float16 it is in range: its reciprocal is at most 65,504.
   */
  private static final double EPSILON = 1e-4;

  private static final int NONE = -1;

  private final Target target;
  private final int rows;
  private final int width;

  /** Elements that row sums are of. */
  private final int summed;

  private final TrialRows tensors;
  private final Frame frame = new Frame();
  private final MachineFrame machineFrame = new MachineFrame();

  private Trial(Target target, int bad, int unsummed) {
    this.target = target;
    rows = target.group() + 2;
    width = target.width() > 0 ? target.width() : WIDTH;
    summed = width - unsummed;
    tensors = new TrialRows(target, rows, width, bad);
    for (Tensor number : numbers()) {
      for (int row = 0; row < rows; row++) {
        set(number, row, row == bad ? Double.NaN : 1 + 1.0 / (3 + row + number.place()));
      }
    }
    set(Forward.RSTD, TrialRows.TINY, bad == TrialRows.TINY ? Double.NaN : 1 / EPSILON);
    Map<Tensor, ElementType> types = new TreeMap<>();
    for (Stage stage : target.stages()) {
      types.putAll(stage.tensors());
    }
    for (Map.Entry<Tensor, ElementType> entry : types.entrySet()) {
      if (entry.getKey().access() == Tensor.Access.ELEMENT) {
        tensors.add(entry.getKey(), entry.getValue());
      } else {
        tensors.add(entry.getKey(), entry.getValue(), machineFrame, frame);
      }
    }
    machineFrame.setWidth(width, summed);
    set(Forward.K, summed);
    set(Forward.EPSILON, EPSILON);
  }

  /** The numbers of rows that the stages read or leave. */
  private Set<Tensor> numbers() {
    Set<Tensor> numbers = new TreeSet<>();
    for (Stage stage : target.stages()) {
      for (Value value : stage.values()) {
        if (value.kind() == Value.Kind.ROW) {
          numbers.add(value.tensor());
        }
      }
      for (Stage.Statement statement : stage.statements()) {
        if (statement instanceof Stage.Keep keep) {
          numbers.add(keep.number());
        } else if (statement instanceof Stage.Sum sum) {
          numbers.add(sum.number());
        }
      }
    }
    return numbers;
  }

  /** Whether a kernel has the bits of plain Java. */
  static boolean passes(Target target, MachineKernel kernel) {
    int unsummed = target.width() == 0 ? UNSUMMED : 0;
    if (target.stages().stream().noneMatch(Stage::hasRanges)) {
      int rows = target.group() + 2;
      return passes(target, kernel, NONE, rows, 0) && passes(target, kernel, NONE, rows, unsummed);
    }
    int last = target.group() + 1;
    int among = Math.max(1, target.group() / 2);
    return passes(target, kernel, last, before(target, last), 0)
        && passes(target, kernel, among, before(target, among), unsummed);
  }

  /** The rows that are done before those that go together with a bad one. */
  private static int before(Target target, int bad) {
    int done = 0;
    while (done + target.together(target.group() + 2 - done) <= bad) {
      done += target.together(target.group() + 2 - done);
    }
    return done;
  }

  /**
   * Whether it does the rows before the one with a NaN as plain Java does.
   *
   * @param bad that row; none has a NaN where the kernel refuses no row
   * @param done how many rows are done before it is refused
   */
  private static boolean passes(
      Target target, MachineKernel kernel, int bad, int done, int unsummed) {
    boolean[] passes = new boolean[1];
    try (Trial trial = new Trial(target, bad, unsummed);
        FloatingPointState state = new FloatingPointState()) {
      state.inContract(() -> passes[0] = trial.passes(kernel, done));
    }
    return passes[0];
  }

  @Override
  public void close() {
    machineFrame.close();
    tensors.close();
  }

  private void set(Tensor number, double value) {
    frame.set(number, value);
    machineFrame.set(number, value);
  }

  private void set(Tensor number, int row, double value) {
    frame.of(number)[row] = value;
    machineFrame.set(number, row, value);
  }

  private boolean passes(MachineKernel kernel, int done) {
    tensors.place(machineFrame, frame);
    // The rows after those that go together are at another stride, which is the same one.
    machineFrame.setPeriod(target.group(), 2);
    boolean same = kernel.run(machineFrame, rows, tensors.bases) == done;
    for (Stage stage : target.stages()) {
      new PlainKernel(stage, 0).run(frame, done, 0, stage.sums().isEmpty() ? width : summed);
      for (Stage.Statement statement : stage.statements()) {
        same &= !(statement instanceof Stage.Keep keep) || isSame(keep.number(), done);
        same &= !(statement instanceof Stage.Sum sum) || isSame(sum.number(), done);
      }
    }
    return same && tensors.areSame(done, frame);
  }

  private boolean isSame(Tensor number, int done) {
    double[] numbers = new double[done];
    machineFrame.copy(number.place(), done, numbers, 0);
    return Arrays.mismatch(numbers, 0, done, frame.of(number), 0, done) < 0;
  }
}
