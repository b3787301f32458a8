package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.FirstElement;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Kernel;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import io.github.rmsnorm4j.internal.kernel.StripAccess;
import io.github.rmsnorm4j.internal.kernel.Strips;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A stage in ordinary loops of a hidden class, which the JIT compiles to vectors by itself. Loops
 * access arrays of the caller where they can. Otherwise rows are copied, a strip of elements at a
 * time.
 *
 * <p>The loops are called through method handles that are fields, so the JIT compiles each loop by
 * itself, and does not inline it.
 */
final class LoopKernel implements Kernel {
  private static final int STRIP = Strips.STRIP;

  private final Stage stage;
  private final LoopPlan plan;
  private final List<Stage.Sum> sums;
  private final List<Value> firsts;
  private final boolean keeps;
  private final boolean mayBeDirect;
  private final MethodHandle numbers;
  private final MethodHandle lanes;
  private final MethodHandle[] loops;

  /** The slots of the rows, and of the columns, that it accesses. */
  private final int[] rows;

  private final int[] columns;

  LoopKernel(Stage stage) {
    this.stage = stage;
    plan = new LoopPlan(stage);
    sums = stage.sums();
    firsts =
        stage.values().stream().filter(value -> value.kind() == Value.Kind.FIRST).toList();
    keeps = stage.statements().stream().anyMatch(Stage.Keep.class::isInstance);
    mayBeDirect = plan.mayBeDirect() && isFloat32(stage.rows());
    rows = slots(stage, Tensor.Access.ELEMENT);
    columns = slots(stage, Tensor.Access.COLUMN);
    MethodHandles.Lookup lookup = new LoopClass(plan, firsts).define();
    numbers = method(lookup, "numbers", boolean.class, 2);
    lanes = plan.terms() > 0 ? method(lookup, "lanes", void.class, 4) : null;
    loops = new MethodHandle[stage.hasElements() ? plan.rounds().size() : 0];
    for (int r = 0; r < loops.length; r++) {
      loops[r] = method(lookup, "loop" + r, void.class, 5);
    }
  }

  private static boolean isFloat32(Map<Tensor, ElementType> rows) {
    return rows.values().stream().allMatch(type -> type == ElementType.FLOAT32);
  }

  private static int[] slots(Stage stage, Tensor.Access access) {
    return stage.tensors().keySet().stream()
        .filter(tensor -> tensor.access() == access)
        .mapToInt(Tensor::slot)
        .toArray();
  }

  private static MethodHandle method(
      MethodHandles.Lookup lookup, String name, Class<?> result, int ints) {
    List<Class<?>> parameters = new ArrayList<>();
    parameters.add(Frame.class);
    for (int k = 0; k < ints; k++) {
      parameters.add(int.class);
    }
    try {
      return lookup.findStatic(
          lookup.lookupClass(), name, MethodType.methodType(result, parameters));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("loops " + lookup.lookupClass() + " have no " + name, e);
    }
  }

  @Override
  public void run(Frame frame, int rows, int from, int to) {
    if (stage.isOfRows()) {
      frame.outOfRange = !numbers(frame, 0, rows);
      return;
    }
    prepare(frame);
    boolean direct = mayBeDirect && isDirect(frame);
    for (int r = 0; r < rows; r++) {
      begin(frame, r);
      if (!sums.isEmpty()) {
        sums(frame, r, from, to);
        for (int s = 0; s < sums.size(); s++) {
          frame.of(sums.get(s).number())[r] =
              RowSum.tree(frame.sumLanes, s * SumOrder.LANES);
        }
      } else if (direct) {
        loop(0, frame, r, at(frame, r) + from, column(frame) + from, to - from, true);
      } else if (stage.hasElements()) {
        strips(frame, r, from, to);
      }
    }
  }

  /** Makes the strips of a frame that are not there. */
  private void prepare(Frame frame) {
    List<LoopPlan.Array> arrays = plan.arrays();
    for (int k = 0; k < arrays.size(); k++) {
      if (arrays.get(k).doubles() && frame.doubleStrips[k] == null) {
        frame.doubleStrips[k] = new double[STRIP];
      } else if (!arrays.get(k).doubles() && frame.floatStrips[k] == null) {
        frame.floatStrips[k] = new float[STRIP];
      }
    }
  }

  /** Keeps the numbers that the elements of a row read. */
  private void begin(Frame frame, int row) {
    for (int k = 0; k < firsts.size(); k++) {
      frame.firsts[k] = FirstElement.of(firsts.get(k).a(), frame, row);
    }
    if (keeps) {
      numbers(frame, row, row + 1);
    }
  }

  /** Whether all rows are in arrays, with the same index, and columns are widened. */
  private boolean isDirect(Frame frame) {
    boolean direct = true;
    for (int slot : rows) {
      direct &=
          frame.base[slot] instanceof float[]
              && frame.offset[slot] == frame.offset[rows[0]]
              && frame.stride[slot] == frame.stride[rows[0]];
    }
    for (int slot : columns) {
      direct &= frame.base[slot] instanceof double[];
    }
    return direct;
  }

  private int at(Frame frame, int row) {
    return (int) (frame.offset[rows[0]] + row * frame.stride[rows[0]] >> 2);
  }

  private int column(Frame frame) {
    return columns.length == 0 ? 0 : (int) (frame.offset[columns[0]] >> 3);
  }

  @Override
  public void superBlock(Frame frame, int n) {
    prepare(frame);
    begin(frame, 0);
    sums(frame, 0, 0, n);
    for (int s = 0; s < sums.size(); s++) {
      int at = s * SumOrder.LANES;
      System.arraycopy(frame.sumLanes, at, frame.lanes[s], 0, SumOrder.LANES);
    }
    RowSum.closeSuperBlock(frame, sums.size());
  }

  @Override
  public void close(Frame frame) {
    RowSum.close(frame, sums, false);
  }

  /** Leaves the lanes of a row. */
  private void sums(Frame frame, int row, int from, int to) {
    boolean direct = lanes != null && isInArrays(frame);
    Arrays.fill(frame.sumLanes, 0.0);
    Arrays.fill(frame.sumTotals, 0.0);
    for (int i = from; i < to; i += SumOrder.BLOCK) {
      int end = Math.min(to, i + SumOrder.BLOCK);
      int whole = i;
      if (direct && end - i >= SumOrder.LANES) {
        whole += end - i & -SumOrder.LANES;
        lanes(frame, row, i, whole, true);
      }
      if (whole < end) {
        strips(frame, row, whole, end);
      }
      if (to - from > SumOrder.BLOCK) {
        closeBlock(frame);
      }
    }
    if (to - from > SumOrder.BLOCK) {
      System.arraycopy(frame.sumTotals, 0, frame.sumLanes, 0, frame.sumLanes.length);
    }
  }

  /** Adds the lanes of a block to those of the blocks before it. */
  private static void closeBlock(Frame frame) {
    for (int l = 0; l < frame.sumLanes.length; l++) {
      frame.sumTotals[l] += frame.sumLanes[l];
      frame.sumLanes[l] = 0.0;
    }
  }

  /** Whether loops can read the rows in the caller's arrays. */
  private boolean isInArrays(Frame frame) {
    boolean is = true;
    for (int slot : rows) {
      is &= plan.float64() ? frame.base[slot] instanceof double[] : frame.base[slot] instanceof float[];
    }
    return is;
  }

  /** Does elements of a row, strip by strip. */
  private void strips(Frame frame, int row, int from, int to) {
    for (int i = from; i < to; i += STRIP) {
      int n = Math.min(STRIP, to - i);
      load(frame, row, i, n);
      int done = 0;
      if (lanes != null && n >= SumOrder.LANES) {
        done = n & -SumOrder.LANES;
        lanes(frame, row, 0, done, false);
        if (done == n) {
          continue;
        }
      }
      for (int r = 0; r < loops.length; r++) {
        loop(r, frame, row, done, done, n - done, false);
        for (LoopPlan.Rounded rounded : plan.rounds().get(r).rounded()) {
          round(frame, rounded, n);
        }
      }
      finish(frame, row, i, done, n);
    }
  }

  private void load(Frame frame, int row, int i, int n) {
    List<LoopPlan.Array> arrays = plan.arrays();
    for (int k = 0; k < arrays.size(); k++) {
      LoopPlan.Array array = arrays.get(k);
      switch (array.kind()) {
        case ROWS -> {
          Object into = array.doubles() ? frame.doubleStrips[k] : frame.floatStrips[k];
          StripAccess.load(frame, array.value(), row, i, into, n);
        }
        case COLUMNS -> StripAccess.column(frame, array.tensor(), i, frame.doubleStrips[k], n);
        case SAVED -> {}
      }
    }
  }

  private void round(Frame frame, LoopPlan.Rounded rounded, int n) {
    Value value = rounded.value();
    if (value.float64()) {
      Strips.cast(
          frame.doubleStrips[rounded.from()], value.type(), frame.doubleStrips[rounded.to()], n);
    } else if (value.kind() == Value.Kind.CAST) {
      Strips.cast(
          frame.floatStrips[rounded.from()], value.type(), frame.floatStrips[rounded.to()], n);
    } else {
      Strips.oneNan(frame.floatStrips[rounded.from()], frame.floatStrips[rounded.to()], n);
    }
  }

  /** The statements of elements, from one of the strip on. */
  private void finish(Frame frame, int row, int i, int from, int n) {
    int sum = 0;
    int[] results = plan.results();
    for (int s = 0; s < results.length; s++) {
      Stage.Statement statement = stage.statements().get(s);
      int k = results[s];
      if (statement instanceof Stage.Sum) {
        int lane = sum++ * SumOrder.LANES;
        Strips.addToLanes(frame.doubleStrips[k], from, frame.sumLanes, lane, n - from);
      } else if (statement instanceof Stage.ColumnSum column) {
        StripAccess.addTo(frame, column.column(), i, frame.doubleStrips[k], n);
      } else if (statement instanceof Stage.Store store) {
        boolean doubles = plan.arrays().get(k).doubles();
        Object strip = doubles ? frame.doubleStrips[k] : frame.floatStrips[k];
        StripAccess.store(frame, store, row, i, strip, n);
      }
    }
  }

  private boolean numbers(Frame frame, int from, int to) {
    try {
      return (boolean) numbers.invokeExact(frame, from, to);
    } catch (Throwable e) {
      throw thrown(e);
    }
  }

  private void lanes(Frame frame, int row, int from, int to, boolean direct) {
    try {
      lanes.invokeExact(frame, row, direct ? 1 : 0, from, to);
    } catch (Throwable e) {
      throw thrown(e);
    }
  }

  private void loop(int round, Frame frame, int row, int at, int column, int n, boolean direct) {
    try {
      loops[round].invokeExact(frame, row, direct ? 1 : 0, at, column, n);
    } catch (Throwable e) {
      throw thrown(e);
    }
  }

  /** Rethrows the exception of a loop; loops throw no checked exceptions. */
  private static RuntimeException thrown(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return (RuntimeException) e;
  }
}
