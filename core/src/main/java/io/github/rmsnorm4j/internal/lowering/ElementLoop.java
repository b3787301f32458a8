package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.DOUBLES;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.VECTOR;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_int;

import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Row after row, 32 elements at a time: {@code elements(frame, second, row, end, from, n)}. Row
 * sums stay in accumulators until a block ends. A second part goes along on rows of the second
 * frame. With more lanes than accumulators a block is swept several times, each time for some of
 * the lanes of all its elements; the second part then does its share of the elements in each sweep.
 */
final class ElementLoop {
  static final int FRAME = 0;
  static final int ROW = 2;
  static final int END = 3;
  static final int FROM = 4;
  static final int N = 5;
  static final int LOCALS = 6;

  private final Target target;
  private final Code code;
  private final CodeBuilder c;
  private final VectorCode vectors;
  private final int sweeps;

  /** Accumulators, by row sum. */
  private final List<int[]> sums = new ArrayList<>();

  private final Map<Place, Broadcasts> broadcasts = new IdentityHashMap<>();
  private final Map<Place, Map<Column, Integer>> columns = new IdentityHashMap<>();
  private int calls;

  /** Locals: the block's first element and the one behind its last, and the sweep. */
  private int block;

  private int blockEnd;
  private int sweep;

  /** A local: what is added to an element's number over the number of sweeps, for the share. */
  private int share;

  ElementLoop(Target target, Code code) {
    this.target = target;
    this.code = code;
    c = code.c;
    vectors = new VectorCode(code);
    sweeps = target.sweeps();
  }

  /** Calls of the Vector API in the loop over elements. */
  int calls() {
    return calls;
  }

  void emit() {
    List<Place> places = new ArrayList<>();
    for (int p = 0; p < target.parts().size(); p++) {
      Place place = Place.of(target, p, FRAME + p);
      new RowPointers(code, place).load(target.memory().get(p));
      columns.put(place, ColumnArrays.load(code, place));
      places.add(place);
    }
    int n = target.width() > 0 ? code.constant(target.width()) : N;
    code.loop("row", ROW, END, 1, () -> row(places, n));
    c.return_();
  }

  private void row(List<Place> places, int n) {
    int mark = code.mark();
    for (Place place : places) {
      new RowPointers(code, place).rows(ROW, () -> c.iload(FROM));
      Broadcasts ofRow = new Broadcasts();
      new Scalars(code, place.frame(), ROW, -1).keep(place.part());
      ofRow.make(code, vectors, place, ROW);
      broadcasts.put(place, ofRow);
    }
    block = code.constant(0);
    if (target.width() > 0 || target.parts().getFirst().sums().isEmpty()) {
      blockEnd = n;
      sweeps(places);
    } else {
      code.loop(
          "block",
          block,
          n,
          RowSum.BLOCK,
          () -> {
            int inner = code.mark();
            c.iload(block).loadConstant(RowSum.BLOCK).iadd().iload(n);
            code.call(Math.class, "min", CD_int, CD_int, CD_int);
            blockEnd = code.storeInt();
            sweeps(places);
            code.release(inner);
          });
    }
    code.release(mark);
  }

  private void sweeps(List<Place> places) {
    int mark = code.mark();
    sweep = code.constant(0);
    if (sweeps == 1) {
      sweep(places);
    } else {
      int end = code.constant(sweeps);
      code.loop("sweep", sweep, end, 1, () -> sweep(places));
    }
    code.release(mark);
  }

  private void sweep(List<Place> places) {
    int mark = code.mark();
    if (sweeps > 1) {
      // Of n elements of a block the share is n / sweeps, from n / sweeps * sweep on.
      c.iload(blockEnd).iload(block).isub().loadConstant(sweeps).idiv().iload(sweep).imul();
      c.iload(block).iadd().iload(block).loadConstant(sweeps).idiv().isub();
      share = code.storeInt();
    }
    accumulators(places);
    c.iload(block);
    int i = code.storeInt();
    code.loop(
        "i",
        i,
        blockEnd,
        step(places),
        () -> {
          int before = vectors.calls();
          step(places, i);
          calls = vectors.calls() - before;
        });
    if (!sums.isEmpty()) {
      finish(places);
    }
    code.release(mark);
  }

  /** Elements of a step: 32 where rows are summed. */
  private static int step(List<Place> places) {
    Place first = places.getFirst();
    return first.sums() ? RowSum.LANES : first.step() * first.count();
  }

  private void finish(List<Place> places) {
    if (target.width() > 0) {
      addUpperLevels(places);
      toLanes(places, "lanes", false);
      return;
    }
    Label open = c.newLabel();
    Label end = c.newLabel();
    c.iload(blockEnd).iload(block).isub().loadConstant(RowSum.BLOCK).if_icmpne(open);
    toLanes(places, "totals", true);
    c.goto_(end).labelBinding(open);
    toLanes(places, "lanes", false);
    c.labelBinding(end);
  }

  private void accumulators(List<Place> places) {
    sums.clear();
    for (Place place : places) {
      for (Part.Sum sum : place.part().sums()) {
        int[] locals = new int[target.vectors()];
        code.line("%s = 0, %d vectors", sum.number(), locals.length);
        for (int j = 0; j < locals.length; j++) {
          locals[j] = vectors.zero(DOUBLES, target.bits());
        }
        sums.add(locals);
      }
    }
  }

  /** Vectors of all parts in turn, of which one may have more than the other. */
  private void step(List<Place> places, int i) {
    int mark = code.mark();
    Map<Place, Elements.Columns> addresses = new IdentityHashMap<>();
    int most = 0;
    for (Place place : places) {
      int at = first(place, i);
      new RowPointers(code, place).elements(at);
      addresses.put(place, ColumnArrays.addresses(code, place, columns.get(place), at));
      most = Math.max(most, place.count());
    }
    for (int v = 0; v < most; v++) {
      for (Place place : places) {
        for (int j = v * place.count() / most; j < (v + 1) * place.count() / most; j++) {
          int inner = code.mark();
          vector(place, j, addresses.get(place));
          code.release(inner);
        }
      }
    }
    code.release(mark);
  }

  /** A local: the first element of a part's step. */
  private int first(Place place, int i) {
    if (sweeps == 1) {
      return i;
    }
    if (place.sums()) {
      int skip = target.doubles() * (place.paired() ? 2 : 1);
      c.iload(i).iload(sweep).loadConstant(skip).imul().iadd();
    } else {
      c.iload(i).loadConstant(Integer.numberOfTrailingZeros(sweeps)).ishr().iload(share).iadd();
    }
    return code.storeInt();
  }

  /** All of a part for one vector of elements, or for a pair of vectors. */
  private void vector(Place place, int j, Elements.Columns columns) {
    Elements elements = new Elements(code, vectors, place, broadcasts.get(place), columns, j);
    Map<Part.Store, Integer> even = new HashMap<>();
    for (int odd = 0; odd < (place.paired() ? 2 : 1); odd++) {
      if (odd == 1) {
        elements.beginOdd();
      }
      int sum = 0;
      for (Part.Statement statement : place.part().statements()) {
        switch (statement) {
          case Part.Sum s -> {
            int[] locals = sums.get(sum++);
            add(s, elements, locals[place.paired() ? 2 * j + odd : j]);
          }
          case Part.Store s -> elements.store(s, even);
          case Part.Keep keep -> {}
          default -> throw new IllegalArgumentException(statement + " among elements");
        }
      }
    }
  }

  private void add(Part.Sum s, Elements elements, int sum) {
    boolean fused = s.value().isExactProduct() && VectorHardware.FUSED_MULTIPLY_ADD;
    if (fused) {
      Value[] factors = s.value().parts();
      int x = elements.value(factors[0]);
      int y = elements.value(factors[1]);
      code.line("%s += %s, fused since exact", s.number(), s.value().text());
      code.load(x).load(y).load(sum);
      vectors.call(DOUBLES, "fma", DOUBLES, VECTOR, VECTOR);
    } else {
      int term = elements.value(s.value());
      code.line("%s += %s", s.number(), s.value().text());
      code.load(sum);
      vectors.with(DOUBLES, "add", term);
    }
    c.astore(sum);
  }

  /** Of a whole row: the levels of the tree whose lanes are in different vectors. */
  private void addUpperLevels(List<Place> places) {
    int group = isPaired(places) ? 2 : 1;
    for (int s = 0; s < sums.size(); s++) {
      int[] locals = sums.get(s);
      code.line("upper levels of the tree");
      for (int half = locals.length / 2; half >= group; half /= 2) {
        for (int j = 0; j < half; j++) {
          code.load(locals[j]);
          vectors.with(DOUBLES, "add", locals[j + half]);
          c.astore(locals[j]);
        }
      }
      sums.set(s, Arrays.copyOf(locals, group));
    }
  }

  private static boolean isPaired(List<Place> places) {
    return places.stream().anyMatch(place -> place.sums() && place.paired());
  }

  /**
   * Accumulators to the lanes of the row.
   *
   * @param adds whether they are added to what is there
   */
  private void toLanes(List<Place> places, String lanes, boolean adds) {
    boolean paired = isPaired(places);
    for (int s = 0; s < sums.size(); s++) {
      int mark = code.mark();
      code.line("sum %d %s %s", s, adds ? "added to" : "is", lanes);
      code.element(FRAME, lanes, CD_double.arrayType(), s);
      int array = code.store();
      c.iload(ROW).loadConstant(RowSum.LANES).imul();
      c.iload(sweep).loadConstant(target.doubles()).imul().iadd();
      int start = code.storeInt();
      for (int j = 0; j < sums.get(s).length; j++) {
        // Of pairs vector 2p is of even lanes and vector 2p + 1 of odd ones, which lie 16 behind.
        int at = paired ? j / 2 * target.apart() + j % 2 * 16 : j * target.apart();
        Runnable address = () -> code.load(array).c.iload(start).loadConstant(at).iadd();
        code.load(sums.get(s)[j]);
        if (adds) {
          int sum = code.store();
          vectors.fromArray(DOUBLES, target.bits(), address);
          vectors.with(DOUBLES, "add", sum);
        }
        vectors.intoArray(DOUBLES, address);
      }
      code.release(mark);
    }
  }
}
