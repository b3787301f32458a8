package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.Arrays;
import java.util.Map;

/**
 * Row sums in the contract's order. A thread has one of the 32 lanes. In a team of several warps
 * each warp sums blocks of 1,024 elements and leaves its lanes in shared memory. The first warp
 * adds the blocks in order.
 */
final class RowSums {
  private static final int LANE_BYTES = Double.BYTES;

  /** Bytes of shared memory for the lanes of one sum of a block of 1,024 elements. */
  static final int LANES_BYTES = SumOrder.LANES * LANE_BYTES;

  /**
   * The sums of a row, before the lanes in shared memory. Threads may still read them when others
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
  private final Accesses accesses;
  private final Shuffles shuffles;

  /** A register with the address of {@link #RESULTS}. */
  private final String base;

  /** Whether no row has more elements than a super-block. */
  private final boolean isOneSuperBlock;

  RowSums(
      PtxText text,
      Team team,
      RowPlaces places,
      Numbers numbers,
      String base,
      boolean isOneSuperBlock) {
    this.isOneSuperBlock = isOneSuperBlock;
    this.text = text;
    this.team = team;
    this.places = places;
    this.numbers = numbers;
    this.base = base;
    accesses = new Accesses(text);
    shuffles = new Shuffles(text, team);
  }

  /**
   * Bytes of shared memory for the sums of a row.
   *
   * @param blockBytes of each block of 1,024 elements, up to 64 of them; 0 where a warp does rows
   */
  static int sharedBytes(int blockBytes, int width) {
    int most = SumOrder.SUPER_BLOCK / SumOrder.BLOCK;
    int blocks = (int) Math.min(most, Math.ceilDiv((long) width, SumOrder.BLOCK));
    return blockBytes == 0 ? 0 : RESULTS + blocks * blockBytes;
  }

  /** Sums the elements before an end, and leaves each sum as a number of the row. */
  void write(Stage stage, ValueCode row, String end) {
    if (team.isBlock()) {
      ofBlock(stage, row, end);
    } else {
      ofWarp(stage, lanesOfWarp(stage, row, end));
    }
  }

  private void ofBlock(Stage stage, ValueCode row, String end) {
    int count = stage.sums().size();
    String[] ofRow = doubles(count);
    clear(ofRow);
    blocksOfTeam(stage, row, end, doubles(count), ofRow);
    byFirstWarp(stage, ofRow);
  }

  /** By sum: the lanes of this thread. The row is one block. */
  private String[][] lanesOfWarp(Stage stage, ValueCode row, String end) {
    if (team.size() < SumOrder.LANES) {
      return new NarrowSums(text, team, places, accesses).lanes(stage, row, end);
    }
    String[] lanes = doubles(stage.sums().size());
    block(stage, row, text.compute(Kind.B32, "mov.u32", team.lane()), end, lanes);
    return Arrays.stream(lanes).map(lane -> new String[] {lane}).toArray(String[][]::new);
  }

  /** The lanes are no -0, so they need not be added to the 0 of a row. */
  private void ofWarp(Stage stage, String[][] lanes) {
    for (int s = 0; s < lanes.length; s++) {
      String sum = lanes[s][0];
      shuffles.tree(lanes[s]);
      shuffles.broadcast(sum);
      numbers.set(stage.sums().get(s).number(), sum);
    }
    if (places.readsRows(stage)) {
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

  /** All warps do the blocks of a super-block, then the first warp adds their lanes. */
  private void blocksOfTeam(
      Stage stage, ValueCode row, String end, String[] lanes, String[] ofRow) {
    if (isOneSuperBlock) {
      share(stage, row, "0", end, lanes);
      text.put("bar.sync", "0");
      fold("0", end, lanes, ofRow);
      return;
    }
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
    String slot = text.compute(Kind.B32, "mad.lo.u32", team.lane(), bytes(), base);
    String slotBytes = Integer.toString(lanes.length * LANES_BYTES);
    text.put("mad.lo.u32", slot, team.warp(), slotBytes, slot);
    String step = text.compute(Kind.B32, "mul.lo.u32", team.warps(), block());
    String slots = text.compute(Kind.B32, "mul.lo.u32", team.warps(), slotBytes);
    String loop = text.label("BLOCK");
    String done = text.label("SHARED");
    text.mark(loop);
    text.branchIf(text.test("ge.u32", from, stop), done);
    String last = text.compute(Kind.B32, "sub.u32", stop, from);
    text.put("min.u32", last, last, block());
    text.put("add.u32", last, last, from);
    String index = text.compute(Kind.B32, "add.u32", from, team.lane());
    block(stage, row, index, last, lanes);
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
    String slot = text.compute(Kind.B32, "mad.lo.u32", team.lane(), bytes(), base);
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
  private void block(Stage stage, ValueCode row, String index, String stop, String[] lanes) {
    clear(lanes);
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
        stage.read().keySet().stream()
            .anyMatch(tensor -> places.type(tensor) == ElementType.FLOAT64);
    return float64 ? STEPS / 2 : STEPS;
  }

  private void steps(Stage stage, ValueCode row, String index, int steps, String[] lanes) {
    Map<Tensor, Place> from = places.sources(stage, index, 1);
    ValueCode[] elements = new ValueCode[steps];
    for (int k = 0; k < steps; k++) {
      int step = k;
      elements[k] =
          row.ofElement(
              value -> {
                Place place = from.get(value.tensor());
                return accesses.load(place, step * SumOrder.LANES * place.type().bytes());
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
        element.addTo(lanes[s], stage.sums().get(s).value());
      }
    }
    text.put("add.u32", index, index, Integer.toString(steps * SumOrder.LANES));
  }
}
