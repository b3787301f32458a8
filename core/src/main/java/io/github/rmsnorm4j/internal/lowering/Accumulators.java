package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.DOUBLES;
import static java.lang.constant.ConstantDescs.CD_double;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Value;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.util.ArrayList;
import java.util.List;

/**
 * The lanes of the row sums of a stage: vectors that stay in registers in the loop over elements.
 */
final class Accumulators {
  private final Target target;
  private final Code code;
  private final CodeBuilder c;
  private final VectorCode vectors;
  private final List<Stage.Sum> sums;

  /** 2 if a vector of even lanes and one of odd lanes follow each other, otherwise 1. */
  private final int group;

  /** Locals: for each row sum, the vectors of this sweep. */
  private final List<int[]> lanes = new ArrayList<>();

  /** Locals: for each sweep of a narrow row and each row sum, the remaining group of vectors. */
  private final List<List<int[]>> swept = new ArrayList<>();

  Accumulators(Target target, Code code, VectorCode vectors) {
    this.target = target;
    this.code = code;
    c = code.c;
    this.vectors = vectors;
    Stage stage = target.stages().getFirst();
    sums = stage.sums();
    group = target.pairs(stage) ? 2 : 1;
  }

  boolean isEmpty() {
    return sums.isEmpty();
  }

  /** Begins a sweep. */
  void open() {
    lanes.clear();
    for (Stage.Sum sum : sums) {
      int[] zeros = new int[target.vectors()];
      code.line("%s = 0, %d vectors", sum.number(), zeros.length);
      for (int j = 0; j < zeros.length; j++) {
        zeros[j] = vectors.zero(target.bits());
      }
      lanes.add(zeros);
    }
  }

  /**
   * Adds a vector of elements.
   *
   * @param s the index of the row sum
   * @param j the index of the vector in the step; in a pair the odd one follows the even one
   */
  void add(int s, int j, Elements elements) {
    int sum = lanes.get(s)[j];
    Value term = sums.get(s).value();
    if (term.isExactProduct() && VectorHardware.FUSED_MULTIPLY_ADD) {
      int x = elements.value(term.a());
      int y = elements.value(term.b());
      code.line("%s += %s, fused since exact", sums.get(s).number(), term.text());
      code.load(x);
      vectors.fused(VectorCode.DOUBLES, target.bits(), y, sum);
      c.astore(sum);
    } else {
      int value = elements.value(term);
      code.line("%s += %s", sums.get(s).number(), term.text());
      add(sum, value);
    }
  }

  private void add(int sum, int term) {
    code.load(sum);
    vectors.exact(DOUBLES, target.bits()).with(DOUBLES, "ADD", term);
    c.astore(sum);
  }

  /**
   * Ends a sweep of a block: adds a whole block to the totals; the last block stays in the lanes.
   */
  void close(int block, int blockEnd, int sweep) {
    Label open = c.newLabel();
    Label end = c.newLabel();
    c.iload(blockEnd).iload(block).isub().loadConstant(SumOrder.BLOCK).if_icmpne(open);
    toLanes("totals", sweep, true);
    c.goto_(end).labelBinding(open);
    toLanes("lanes", sweep, false);
    c.labelBinding(end);
  }

  /** Ends a sweep of a narrow row: adds the lanes that are in different vectors. */
  void closeSweep() {
    code.line("upper levels of the tree");
    for (int[] vectorsOfSum : lanes) {
      for (int half = vectorsOfSum.length / 2; half >= group; half /= 2) {
        for (int j = 0; j < half; j++) {
          add(vectorsOfSum[j], vectorsOfSum[j + half]);
        }
      }
    }
    swept.add(List.copyOf(lanes));
  }

  /**
   * Adds the lanes of the closed sweeps, and leaves a group of vectors for each sum.
   *
   * @param sweep the first sweep, a local
   */
  void closeSweeps(int sweep) {
    code.line("next levels");
    for (int half = swept.size() / 2; half >= 1; half /= 2) {
      for (int k = 0; k < half; k++) {
        for (int s = 0; s < sums.size(); s++) {
          for (int j = 0; j < group; j++) {
            add(swept.get(k).get(s)[j], swept.get(k + half).get(s)[j]);
          }
        }
      }
    }
    for (int s = 0; s < sums.size(); s++) {
      code.line("%s to lanes", sums.get(s).number());
      Lanes into = new Lanes(s, "lanes", sweep);
      for (int j = 0; j < group; j++) {
        into.store(swept.getFirst().get(s)[j], j * SumOrder.LANES / 2, false);
      }
    }
    swept.clear();
  }

  private void toLanes(String array, int sweep, boolean adds) {
    for (int s = 0; s < sums.size(); s++) {
      int mark = code.mark();
      code.line("%s %s %s", sums.get(s).number(), adds ? "added to" : "to", array);
      Lanes into = new Lanes(s, array, sweep);
      for (int j = 0; j < target.vectors(); j++) {
        int at = j / group * target.apart() + j % group * SumOrder.LANES / 2;
        into.store(lanes.get(s)[j], at, adds);
      }
      code.release(mark);
    }
  }

  /** The lanes of a row sum in an array, from the lanes of a sweep on. */
  private final class Lanes {
    private final int array;
    private final int start;

    Lanes(int s, String name, int sweep) {
      code.element(ElementLoop.FRAME, name, CD_double.arrayType(), s);
      array = code.store();
      c.iload(ElementLoop.ROW).loadConstant(SumOrder.LANES).imul();
      c.iload(sweep).loadConstant(target.doubles()).imul().iadd();
      start = code.storeInt();
    }

    void store(int vector, int at, boolean adds) {
      Runnable address = () -> code.load(array).c.iload(start).loadConstant(at).iadd();
      if (adds) {
        vectors.fromArray(DOUBLES, target.bits(), address);
        vectors.with(DOUBLES, "ADD", vector);
      } else {
        code.load(vector);
      }
      vectors.intoArray(DOUBLES, address);
    }
  }
}
