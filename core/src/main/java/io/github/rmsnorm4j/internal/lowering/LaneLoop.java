package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A loop over the lanes of row sums. Each lane gets several terms at a time, so that it is read and
 * written less often.
 */
final class LaneLoop {
  /** Parameters after the frame: whether rows are the caller's arrays, and the rows. */
  private static final int DIRECT = 1;

  private static final int FROM_ROW = 2;
  private static final int TO_ROW = 3;

  /** The elements. */
  private static final int FROM = 4;

  private static final int TO = 5;

  /** The number of int parameters. */
  static final int INTS = 5;

  private final LoopCode loops;
  private final Code code;
  private final CodeBuilder c;
  private final LoopPlan plan;
  private final List<Stage.Sum> sums;

  /** By array: a local with it, and one with the index of element 0 of the row. */
  private final Map<Integer, Integer> arrays = new HashMap<>();

  private final Map<Integer, Integer> starts = new HashMap<>();
  private int lanes;

  LaneLoop(LoopCode loops) {
    this.loops = loops;
    code = loops.code;
    c = code.c;
    plan = loops.plan;
    sums = plan.stage().sums();
  }

  /**
   * The method.
   *
   * @param whole whether it sums whole rows; otherwise it adds elements of a row to the lanes
   */
  void emit(boolean whole) {
    for (int array = 0; array < plan.arrays().size(); array++) {
      if (plan.arrays().get(array).kind() == LoopPlan.Kind.ROWS) {
        arrays.put(array, loops.array(array, DIRECT));
      }
    }
    code.field(LoopCode.FRAME, "sumLanes", CD_double.arrayType());
    lanes = code.store();
    code.loop(
        "row",
        FROM_ROW,
        TO_ROW,
        1,
        row -> {
          arrays.keySet().forEach(array -> starts.put(array, start(array, row)));
          if (whole) {
            zero();
          }
          ScalarCode ofRow = loops.ofRow(row);
          int i = code.local(TypeKind.INT);
          c.iload(FROM).istore(i);
          for (int terms = plan.terms(); terms > 0; terms /= 2) {
            groups(ofRow, i, terms);
          }
          if (whole) {
            trees(row);
          }
        });
    c.return_();
  }

  /** The index of element 0 of a row. */
  private int start(int array, int row) {
    Label strip = c.newLabel();
    Label end = c.newLabel();
    int slot = plan.slot(array);
    c.iload(DIRECT).ifeq(strip);
    code.element(LoopCode.FRAME, "offset", CD_long, slot);
    c.iload(row).i2l();
    code.element(LoopCode.FRAME, "stride", CD_long, slot);
    c.lmul().ladd().loadConstant(plan.float64() ? 3 : 2).lshr().l2i().goto_(end);
    c.labelBinding(strip).iconst_0().labelBinding(end);
    return code.storeInt();
  }

  private void zero() {
    int from = code.constant(0);
    int end = code.constant(sums.size() * SumOrder.LANES);
    code.loop("lane", from, end, 1, l -> c.aload(lanes).iload(l).dconst_0().dastore());
  }

  private void trees(int row) {
    for (int s = 0; s < sums.size(); s++) {
      code.line("%s of the row", sums.get(s).number());
      int place = sums.get(s).number().place();
      code.element(LoopCode.FRAME, "ofRow", CD_double.arrayType(), place);
      c.iload(row).aload(lanes).loadConstant(s * SumOrder.LANES);
      code.call(RowSum.class, "tree", CD_double, CD_double.arrayType(), CD_int);
      c.dastore();
    }
  }

  /** Adds as many groups of so many terms for each lane as there are. */
  private void groups(ScalarCode ofRow, int i, int terms) {
    int step = terms * SumOrder.LANES;
    c.iload(TO).iload(TO).iload(i).isub().loadConstant(step).irem().isub();
    int to = code.storeInt();
    code.loop("i", i, to, step, () -> group(ofRow, i, terms));
  }

  private void group(ScalarCode ofRow, int i, int terms) {
    Map<Integer, Integer> bases = new HashMap<>();
    for (int array : starts.keySet()) {
      c.iload(starts.get(array)).iload(i).iadd();
      bases.put(array, code.storeInt());
    }
    int from = code.constant(0);
    int end = code.constant(SumOrder.LANES);
    code.loop("lane", from, end, 1, lane -> lane(ofRow, bases, lane, terms));
  }

  private void lane(ScalarCode ofRow, Map<Integer, Integer> bases, int lane, int terms) {
    int[] sum = new int[sums.size()];
    for (int s = 0; s < sum.length; s++) {
      at(s, lane);
      c.daload();
      sum[s] = code.store(TypeKind.DOUBLE);
    }
    for (int t = 0; t < terms; t++) {
      int apart = t * SumOrder.LANES;
      ScalarCode values = new ScalarCode(ofRow, value -> read(value, bases, lane, apart));
      for (int s = 0; s < sum.length; s++) {
        code.line("%s += %s", sums.get(s).number(), sums.get(s).value().text());
        int term = values.local(sums.get(s).value());
        c.dload(sum[s]).dload(term).dadd().dstore(sum[s]);
      }
    }
    for (int s = 0; s < sum.length; s++) {
      at(s, lane);
      c.dload(sum[s]).dastore();
    }
  }

  /** Leaves the lanes and the index of one of them on the stack. */
  private void at(int s, int lane) {
    c.aload(lanes).iload(lane).loadConstant(s * SumOrder.LANES).iadd();
  }

  private boolean read(Value value, Map<Integer, Integer> bases, int lane, int apart) {
    Integer array = plan.array(value, 0);
    if (array != null) {
      c.aload(arrays.get(array)).iload(bases.get(array)).iload(lane).iadd();
      c.loadConstant(apart).iadd().arrayLoad(ScalarCode.kind(value.float64()));
    }
    return array != null;
  }
}
