package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_int;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import java.lang.classfile.CodeBuilder;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Row after row, 32 elements at a time: {@code elements(frame, second, row, end, from, n)}. Row
 * sums stay in accumulators until a block ends. A second stage may run in the same loop, on rows of
 * the second frame. If there are more lanes than accumulators, a block is swept several times, each
 * time for some of the lanes of all its elements. The second stage then does its share of the
 * elements in each sweep.
 */
final class ElementLoop {
  static final int FRAME = 0;
  static final int ROW = 2;
  static final int END = 3;
  static final int FROM = 4;
  static final int N = 5;

  private final Target target;
  private final Code code;
  private final CodeBuilder c;
  private final VectorCode vectors;
  private final int sweeps;
  private final List<Place> places = new ArrayList<>();
  private final Accumulators sums;
  private final IdentityHashMap<Place, Broadcasts> broadcasts = new IdentityHashMap<>();
  private int calls;

  /** Locals: the first element of the block, the element after its last, and the sweep. */
  private int block;

  private int blockEnd;
  private int sweep;

  /** A local: index / sweeps plus this is the index of an element of the share. */
  private int share;

  ElementLoop(Target target, Code code) {
    this.target = target;
    this.code = code;
    c = code.c;
    vectors = new VectorCode(code);
    sums = new Accumulators(target, code, vectors);
    sweeps = target.sweeps();
  }

  /** Calls of the Vector API in the loop over elements. */
  int calls() {
    return calls;
  }

  void emit() {
    for (int p = 0; p < target.stages().size(); p++) {
      Place place = Place.of(target, p, FRAME + p);
      new RowPointers(code, place).load(target.memory().get(p));
      places.add(place);
    }
    int n = target.width() > 0 ? code.constant(target.width()) : N;
    code.loop("row", ROW, END, 1, () -> row(n));
    c.return_();
  }

  private void row(int n) {
    int mark = code.mark();
    for (Place place : places) {
      new RowPointers(code, place).rows(ROW, () -> c.iload(FROM));
      Broadcasts ofRow = new Broadcasts(code, vectors, place.elements());
      new Scalars(code, place.frame(), ROW, -1).keep(place.stage());
      ofRow.make(place, ROW);
      broadcasts.put(place, ofRow);
    }
    block = code.constant(0);
    if (sums.isEmpty()) {
      blockEnd = n;
      sweep();
    } else if (target.width() > 0) {
      blockEnd = n;
      sweepsOfNarrow();
    } else {
      code.loop(
          "block",
          block,
          n,
          SumOrder.BLOCK,
          from -> {
            block = from;
            c.iload(block).loadConstant(SumOrder.BLOCK).iadd().iload(n);
            code.call(Math.class, "min", CD_int, CD_int, CD_int);
            blockEnd = code.storeInt();
            sweeps();
          });
    }
    code.release(mark);
  }

  private void sweeps() {
    int first = code.constant(0);
    if (sweeps == 1) {
      sweepOfBlock(first);
    } else {
      code.loop("sweep", first, code.constant(sweeps), 1, this::sweepOfBlock);
    }
  }

  private void sweepOfBlock(int k) {
    sweep = k;
    sweep();
    sums.close(block, blockEnd, sweep);
  }

  /** A few sweeps are unrolled, so that the remaining vectors of each stay in registers. */
  private void sweepsOfNarrow() {
    int first = code.constant(0);
    if (target.leavesOneVector()) {
      for (int k = 0; k < sweeps; k++) {
        sweep = code.constant(k);
        sweep();
        sums.closeSweep();
      }
      sums.closeSweeps(first);
    } else {
      code.loop(
          "sweep",
          first,
          code.constant(sweeps),
          1,
          k -> {
            sweep = k;
            sweep();
            sums.closeSweep();
            sums.closeSweeps(k);
          });
    }
  }

  private void sweep() {
    if (sweeps > 1) {
      // The share of n elements of a block is n / sweeps, from n / sweeps * sweep on.
      c.iload(blockEnd).iload(block).isub().loadConstant(sweeps).idiv().iload(sweep).imul();
      c.iload(block).iadd().iload(block).loadConstant(sweeps).idiv().isub();
      share = code.storeInt();
    }
    sums.open();
    code.loop(
        "i",
        block,
        blockEnd,
        step(),
        i -> {
          int before = vectors.calls();
          vectors(i);
          calls = vectors.calls() - before;
        });
  }

  /** Elements of a step: 32 if rows are summed. */
  private int step() {
    Place first = places.getFirst();
    return first.sums() ? SumOrder.LANES : first.step() * first.count();
  }

  /** Vectors of all stages in turn; one stage may have more than the other. */
  private void vectors(int i) {
    int mark = code.mark();
    int most = 0;
    for (Place place : places) {
      int at = first(place, i);
      new RowPointers(code, place).elements(at);
      new RowPointers(code, place).columns(at);
      most = Math.max(most, place.count());
    }
    for (int v = 0; v < most; v++) {
      for (Place place : places) {
        for (int j = v * place.count() / most; j < (v + 1) * place.count() / most; j++) {
          int inner = code.mark();
          vector(place, j);
          code.release(inner);
        }
      }
    }
    code.release(mark);
  }

  /** A local: the first element of a stage's step. */
  private int first(Place place, int i) {
    if (sweeps == 1) {
      return i;
    }
    if (place.sums()) {
      int skip = target.doubles() * place.halves();
      c.iload(i).iload(sweep).loadConstant(skip).imul().iadd();
    } else {
      c.iload(i).loadConstant(Integer.numberOfTrailingZeros(sweeps)).ishr().iload(share).iadd();
    }
    return code.storeInt();
  }

  /** All statements of a stage for one vector of elements, or for a pair of vectors. */
  private void vector(Place place, int j) {
    Elements elements = new Elements(code, vectors, place, broadcasts.get(place), j);
    elements.forHalves(
        half -> {
          int sum = 0;
          for (Stage.Statement statement : place.stage().statements()) {
            switch (statement) {
              case Stage.Sum s -> sums.add(sum++, j * place.halves() + half, elements);
              case Stage.Store s -> elements.store(s);
              case Stage.Keep keep -> {}
              default -> throw new IllegalArgumentException(statement + " among elements");
            }
          }
        });
  }
}
