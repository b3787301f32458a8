package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Copies rows to shared memory, 16 bytes at a time where all of them begin at multiples of 16
 * bytes. Each warp copies the blocks of 1,024 elements that it sums, so its threads alone must have
 * met before the first sum.
 */
final class RowCopies {
  /** Bytes that a thread loads before it stores the first of them: 32 registers. */
  private static final int BYTES_AT_ONCE = 128;

  /** The fewest elements that a thread copies at once, except for the end of a row. */
  private static final int LEAST_AT_ONCE = Accesses.WIDEST / Short.BYTES;

  /** Elements of a row that is not aligned that a thread loads before it stores them. */
  private static final int SINGLES_AT_ONCE = 8;

  private final PtxText text;
  private final Team team;
  private final RowPlaces places;
  private final Accesses accesses;
  private final String width;
  private final List<Tensor> rows;

  /**
   * Copies of rows.
   *
   * @param rows those that are copied
   * @param width a register with their width
   */
  RowCopies(PtxText text, Team team, RowPlaces places, List<Tensor> rows, String width) {
    this.text = text;
    this.team = team;
    this.places = places;
    this.rows = rows;
    this.width = width;
    accesses = new Accesses(text);
  }

  /** Copies the current row of each tensor. */
  void copy() {
    if (!team.isBlock()) {
      copy(text.compute(Kind.B32, "mov.u32", "0"), width);
    } else {
      String block = Integer.toString(SumOrder.BLOCK);
      String from = text.compute(Kind.B32, "mul.lo.u32", team.warp(), block);
      String step = text.compute(Kind.B32, "mul.lo.u32", team.warps(), block);
      String loop = text.label("COPY");
      String done = text.label("COPIED");
      text.mark(loop);
      text.branchIf(text.test("ge.u32", from, width), done);
      String stop = text.compute(Kind.B32, "add.u32", from, block);
      text.put("min.u32", stop, stop, width);
      copy(text.compute(Kind.B32, "mov.u32", from), stop);
      text.put("add.u32", from, from, step);
      text.branch(loop);
      text.mark(done);
    }
    team.meetInWarp(text);
  }

  /** Copies the elements of a warp from a multiple of 1,024, which is changed, to an end. */
  private void copy(String from, String stop) {
    List<String> singles = new ArrayList<>();
    for (int r = 0; r < rows.size(); r++) {
      singles.add(text.compute(Kind.B32, "add.u32", from, team.lane()));
    }
    String unaligned = text.label("COPY_UNALIGNED");
    List<String> addresses =
        rows.stream().map(tensor -> places.inGlobal(tensor).address()).toList();
    text.branchIf(places.isUnaligned(addresses), unaligned);
    int bytes = rows.stream().mapToInt(tensor -> places.type(tensor).bytes()).sum();
    int most = Integer.highestOneBit(BYTES_AT_ONCE * team.size() / bytes);
    int least = LEAST_AT_ONCE * team.size();
    int atOnce = Math.clamp(most, least, SumOrder.BLOCK);
    String done = text.label("COPIED_ALL");
    wide(from, stop, atOnce, done);
    if (atOnce > least) {
      wide(from, stop, least, done);
    }
    for (int r = 0; r < rows.size(); r++) {
      last(rows.get(r), from, stop, singles.get(r));
    }
    text.mark(unaligned);
    for (int r = 0; r < rows.size(); r++) {
      singles(rows.get(r), singles.get(r), stop, SINGLES_AT_ONCE);
      singles(rows.get(r), singles.get(r), stop, 1);
    }
    text.mark(done);
  }

  private int vector(Tensor tensor) {
    return Accesses.WIDEST / places.type(tensor).bytes();
  }

  /** A register with the first element of the thread's 16 bytes. */
  private String ownVector(Tensor tensor, String from) {
    String elements = Integer.toString(vector(tensor));
    return text.compute(Kind.B32, "mad.lo.u32", team.lane(), elements, from);
  }

  /**
   * So many elements of all tensors at once, as often as they fit.
   *
   * @param end continues where nothing is left
   */
  private void wide(String from, String stop, int elements, String end) {
    String loop = text.label("COPY_WIDE");
    String done = text.label("COPIED_WIDE");
    text.mark(loop);
    String next = text.compute(Kind.B32, "add.u32", from, Integer.toString(elements));
    text.branchIf(text.test("gt.u32", next, stop), done);
    List<Place> into = new ArrayList<>();
    List<String[]> loaded = new ArrayList<>();
    for (Tensor tensor : rows) {
      String index = ownVector(tensor, from);
      Place source = places.inGlobal(tensor).at(text, index, 1);
      into.add(places.source(tensor).at(text, index, 1));
      for (int k = 0; k < elements / (team.size() * vector(tensor)); k++) {
        loaded.add(accesses.wideBits(source, k * team.size() * Accesses.WIDEST));
      }
    }
    for (int r = 0; r < rows.size(); r++) {
      for (int k = 0; k < elements / (team.size() * vector(rows.get(r))); k++) {
        int offset = k * team.size() * Accesses.WIDEST;
        accesses.storeWideBits(into.get(r), offset, loaded.removeFirst());
      }
    }
    text.put("mov.u32", from, next);
    text.branchIf(text.test("ge.u32", from, stop), end);
    if (elements < SumOrder.BLOCK) {
      text.branch(loop);
    }
    text.mark(done);
  }

  /** The last whole 16 bytes. What is behind them is left to the index of single elements. */
  private void last(Tensor tensor, String from, String stop, String single) {
    String loop = text.label("COPY_LAST");
    String done = text.label("COPIED_LAST");
    int vector = vector(tensor);
    String index = ownVector(tensor, from);
    text.mark(loop);
    String behind = text.compute(Kind.B32, "add.u32", index, Integer.toString(vector));
    text.branchIf(text.test("gt.u32", behind, stop), done);
    Place source = places.inGlobal(tensor).at(text, index, 1);
    Place into = places.source(tensor).at(text, index, 1);
    accesses.storeWideBits(into, 0, accesses.wideBits(source, 0));
    text.put("add.u32", index, index, Integer.toString(team.size() * vector));
    text.branch(loop);
    text.mark(done);
    text.put("and.b32", single, stop, "0x" + Integer.toHexString(-vector));
    text.put("add.u32", single, single, team.lane());
  }

  /** Elements one by one, so many in a step. */
  private void singles(Tensor tensor, String index, String stop, int steps) {
    String loop = text.label(steps > 1 ? "COPY_MANY" : "COPY_ONE");
    String done = text.label("COPIED");
    text.mark(loop);
    String last = index;
    if (steps > 1) {
      String distance = Integer.toString((steps - 1) * team.size());
      last = text.compute(Kind.B32, "add.u32", index, distance);
    }
    text.branchIf(text.test("ge.u32", last, stop), done);
    Place source = places.inGlobal(tensor).at(text, index, 1);
    Place into = places.source(tensor).at(text, index, 1);
    int distance = team.size() * places.type(tensor).bytes();
    String[] bits = new String[steps];
    for (int k = 0; k < steps; k++) {
      bits[k] = accesses.bits(source, k * distance);
    }
    for (int k = 0; k < steps; k++) {
      accesses.storeBits(into, k * distance, bits[k]);
    }
    text.put("add.u32", index, index, Integer.toString(steps * team.size()));
    text.branch(loop);
    text.mark(done);
  }
}
