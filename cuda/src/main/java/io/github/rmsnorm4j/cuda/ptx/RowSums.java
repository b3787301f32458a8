package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.Map;

/**
 * Row sums in the contract's order. A thread has one of the 32 lanes. In a team of several warps
 * each warp sums blocks of 1,024 elements and leaves its lanes in shared memory. The first warp
 * adds the blocks in order.
 */
final class RowSums {
  private static final int LANE_BYTES = Double.BYTES;
  private static final int LANES_BYTES = SumOrder.LANES * LANE_BYTES;

  /**
   * The sums of a row, at the beginning of shared memory. Threads may still read them when others
   * write the lanes of the next stage, so they have a place of their own.
   */
  static final int RESULTS = Stage.MAX_SUMS * Double.BYTES;

  /** Steps of a lane that are written one after the other, so that their loads overlap. */
  private static final int STEPS = 8;

  private static final String ZERO = PtxText.literal(0.0);

  private final PtxText text;
  private final Team team;
  private final RowPlaces places;
  private final Numbers numbers;
  private final Shuffles shuffles;
  private int mostSums;

  RowSums(PtxText text, Team team, RowPlaces places, Numbers numbers) {
    this.text = text;
    this.team = team;
    this.places = places;
    this.numbers = numbers;
    shuffles = new Shuffles(text);
  }

  /** Bytes of shared memory for the lanes of one block of 1,024 elements, of the most sums. */
  int blockBytes() {
    return team.isBlock() ? mostSums * LANES_BYTES : 0;
  }

  /** Sums the elements before an end, and leaves each sum as a number of the row. */
  void write(Stage stage, ValueCode row, String end) {
    int count = stage.sums().size();
    mostSums = Math.max(mostSums, count);
    String[] lanes = doubles(count);
    String[] ofRow = doubles(count);
    clear(ofRow);
    if (team.isBlock()) {
      blocksOfTeam(stage, row, end, lanes, ofRow);
      byFirstWarp(stage, ofRow);
    } else {
      blocksOfWarp(stage, row, end, lanes, ofRow);
      for (int s = 0; s < count; s++) {
        shuffles.tree(ofRow[s]);
        shuffles.broadcast(ofRow[s]);
        numbers.set(stage.sums().get(s).number(), ofRow[s]);
      }
      // Other threads may store what this one has read.
      team.meet(text);
    }
  }

  private String[] doubles(int count) {
    String[] registers = new String[count];
    for (int s = 0; s < count; s++) {
      registers[s] = text.register(Kind.F64);
    }
    return registers;
  }

  private void clear(String[] registers) {
    for (String register : registers) {
      text.put("mov.f64", register, ZERO);
    }
  }

  private void add(String[] to, String[] lanes) {
    for (int s = 0; s < to.length; s++) {
      text.put("add.rn.f64", to[s], to[s], lanes[s]);
    }
  }

  /** One warp does all blocks in order; its rows are no longer than a super-block. */
  private void blocksOfWarp(
      Stage stage, ValueCode row, String end, String[] lanes, String[] ofRow) {
    String from = text.compute(Kind.B32, "mov.u32", "0");
    String loop = text.label("BLOCK");
    String done = text.label("SUMMED");
    text.mark(loop);
    text.branchIf(text.test("ge.u32", from, end), done);
    block(stage, row, from, end, lanes);
    add(ofRow, lanes);
    text.put("add.u32", from, from, Integer.toString(SumOrder.BLOCK));
    text.branch(loop);
    text.mark(done);
  }

  /** All warps do the blocks of a super-block, then the first warp adds their lanes. */
  private void blocksOfTeam(
      Stage stage, ValueCode row, String end, String[] lanes, String[] ofRow) {
    String begin = text.compute(Kind.B32, "mov.u32", "0");
    String stop = text.register(Kind.B32);
    String superBlock = text.label("SUPER_BLOCK");
    String summed = text.label("SUMMED");
    text.mark(superBlock);
    text.put("sub.u32", stop, end, begin);
    text.put("min.u32", stop, stop, Integer.toString(SumOrder.SUPER_BLOCK));
    text.put("add.u32", stop, stop, begin);
    share(stage, row, begin, stop, lanes);
    text.put("bar.sync", "0");
    fold(begin, stop, lanes, ofRow);
    text.put("add.u32", begin, begin, Integer.toString(SumOrder.SUPER_BLOCK));
    text.branchIf(text.test("ge.u32", begin, end), summed);
    text.put("bar.sync", "0");
    text.branch(superBlock);
    text.mark(summed);
  }

  /** The blocks of this warp, whose lanes go to shared memory. */
  private void share(Stage stage, ValueCode row, String begin, String stop, String[] lanes) {
    String from = text.compute(Kind.B32, "mad.lo.u32", team.warp(), block(), begin);
    String slot = text.compute(Kind.B32, "mad.lo.u32", team.lane(), bytes(), sharedBase());
    String slotBytes = Integer.toString(lanes.length * LANES_BYTES);
    text.put("mad.lo.u32", slot, team.warp(), slotBytes, slot);
    String step = text.compute(Kind.B32, "mul.lo.u32", team.warps(), block());
    String slots = text.compute(Kind.B32, "mul.lo.u32", team.warps(), slotBytes);
    String loop = text.label("BLOCK");
    String done = text.label("SHARED");
    text.mark(loop);
    text.branchIf(text.test("ge.u32", from, stop), done);
    block(stage, row, from, stop, lanes);
    for (int s = 0; s < lanes.length; s++) {
      text.put("st.shared.f64", PtxText.at(slot, RESULTS + s * LANES_BYTES), lanes[s]);
    }
    text.put("add.u32", from, from, step);
    text.put("add.u32", slot, slot, slots);
    text.branch(loop);
    text.mark(done);
  }

  private static String block() {
    return Integer.toString(SumOrder.BLOCK);
  }

  private static String bytes() {
    return Integer.toString(LANE_BYTES);
  }

  private String sharedBase() {
    return text.compute(Kind.B32, "mov.u32", RowKernel.SHARED);
  }

  /**
   * The first warp adds the blocks of a super-block, in order, to its totals, and those to the
   * row's.
   */
  private void fold(String begin, String stop, String[] lanes, String[] ofRow) {
    String folded = text.label("FOLDED");
    text.branchIf(text.test("ne.u32", team.warp(), "0"), folded);
    String[] totals = lanes;
    clear(totals);
    String from = text.compute(Kind.B32, "mov.u32", begin);
    String slot = text.compute(Kind.B32, "mad.lo.u32", team.lane(), bytes(), sharedBase());
    String loop = text.label("FOLD");
    text.mark(loop);
    for (int s = 0; s < totals.length; s++) {
      String of =
          text.compute(Kind.F64, "ld.shared.f64", PtxText.at(slot, RESULTS + s * LANES_BYTES));
      text.put("add.rn.f64", totals[s], totals[s], of);
    }
    text.put("add.u32", from, from, block());
    text.put("add.u32", slot, slot, Integer.toString(totals.length * LANES_BYTES));
    text.branchIf(text.test("lt.u32", from, stop), loop);
    add(ofRow, totals);
    text.mark(folded);
  }

  /** The first warp adds its lanes; all threads read the sums. */
  private void byFirstWarp(Stage stage, String[] ofRow) {
    String known = text.label("KNOWN");
    String base = sharedBase();
    int count = ofRow.length;
    text.branchIf(text.test("ne.u32", team.warp(), "0"), known);
    for (String sum : ofRow) {
      shuffles.tree(sum);
    }
    text.branchIf(text.test("ne.u32", team.lane(), "0"), known);
    for (int s = 0; s < count; s++) {
      text.put("st.shared.f64", PtxText.at(base, s * Double.BYTES), ofRow[s]);
    }
    text.mark(known);
    text.put("bar.sync", "0");
    for (int s = 0; s < count; s++) {
      String at = PtxText.at(base, s * Double.BYTES);
      numbers.set(stage.sums().get(s).number(), text.compute(Kind.F64, "ld.shared.f64", at));
    }
  }

  /** The lanes of a block: thread j has the terms of elements j, j + 32 and so on. */
  private void block(Stage stage, ValueCode row, String from, String end, String[] lanes) {
    clear(lanes);
    String stop = text.compute(Kind.B32, "sub.u32", end, from);
    text.put("min.u32", stop, stop, block());
    text.put("add.u32", stop, stop, from);
    String index = text.compute(Kind.B32, "add.u32", from, team.lane());
    String many = text.label("MANY");
    String one = text.label("ONE");
    String done = text.label("ADDED");
    String last = text.register(Kind.B32);
    text.mark(many);
    int steps = stepsOf(stage);
    text.put("add.u32", last, index, Integer.toString((steps - 1) * SumOrder.LANES));
    text.branchIf(text.test("ge.u32", last, stop), one);
    steps(stage, row, index, steps, lanes);
    text.branch(many);
    text.mark(one);
    text.branchIf(text.test("ge.u32", index, stop), done);
    steps(stage, row, index, 1, lanes);
    text.branch(one);
    text.mark(done);
  }

  /** Float64 elements take two registers each, so that fewer are loaded at once. */
  private int stepsOf(Stage stage) {
    boolean float64 =
        RowPlaces.tensors(stage).stream()
            .anyMatch(tensor -> places.type(tensor) == ElementType.FLOAT64);
    return float64 ? STEPS / 2 : STEPS;
  }

  private void steps(Stage stage, ValueCode row, String index, int steps, String[] lanes) {
    Map<Tensor, String> at = places.addresses(RowPlaces.tensors(stage), index, 1);
    ValueCode[] elements = new ValueCode[steps];
    for (int k = 0; k < steps; k++) {
      int step = k;
      elements[k] =
          row.ofElement(
              value -> {
                Tensor tensor = value.tensor();
                int bytes = places.type(tensor).bytes();
                return places.load(tensor, at.get(tensor), step * SumOrder.LANES * bytes);
              });
      for (Value value : stage.values()) {
        boolean isLoad = value.kind() == Value.Kind.ELEMENT || value.kind() == Value.Kind.COLUMN;
        if (isLoad) {
          elements[k].of(value);
        }
      }
    }
    for (ValueCode element : elements) {
      for (int s = 0; s < lanes.length; s++) {
        addTerm(stage.sums().get(s).value(), element, lanes[s]);
      }
    }
    text.put("add.u32", index, index, Integer.toString(steps * SumOrder.LANES));
  }

  /** A product that is exact may be fused with the addition: the bits are the same. */
  private void addTerm(Value term, ValueCode element, String lane) {
    if (term.isExactProduct()) {
      text.put("fma.rn.f64", lane, element.of(term.a()), element.of(term.b()), lane);
    } else {
      text.put("add.rn.f64", lane, lane, element.of(term));
    }
  }
}
