package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Collection;
import java.util.function.Consumer;

/**
 * Output that becomes codes. The elements of a block are computed once: some threads of a warp find
 * their largest magnitude by shuffles. Where a scale is for a row, its elements are computed twice:
 * for the largest magnitude, which the team finds together, and for the codes. All threads of a
 * block compute its scale.
 */
final class CodeOutput {
  private static final int LANES = SumOrder.LANES;

  /** The least elements that a thread does at once, so that a warp has whole blocks. */
  private static final int LEAST = 4;

  private final PtxText text;
  private final Team team;
  private final RowPlaces places;
  private final Codes codes;
  private final BlockCodes blockCodes;
  private final Shuffles shuffles;

  /** A register with the address of the shared memory that sums of rows have, too. */
  private final String base;

  CodeOutput(PtxText text, Team team, RowPlaces places, Codes codes, String base) {
    this.base = base;
    this.text = text;
    this.team = team;
    this.places = places;
    this.codes = codes;
    blockCodes = new BlockCodes(text, codes.formula());
    shuffles = new Shuffles(text, team);
  }

  /** Bytes of shared memory for each block of 1,024 elements. */
  static int blockBytes(Codes codes, Form form) {
    return form == Form.BLOCK && codes.isOfRow() ? Integer.BYTES : 0;
  }

  /**
   * Writes the codes and scales of a stage's output, and what the stage stores.
   *
   * @param to the end of the elements
   * @param mayBeWide whether a thread may do several elements at once, where rows are aligned
   */
  void write(Stage stage, String to, ValueCode row, boolean mayBeWide) {
    // Several elements of float64 would take the registers of all rows.
    boolean isWide = mayBeWide && !stage.hasFloat64Elements();
    CodeElements elements = new CodeElements(text, places, codes, stage, row);
    if (codes.isGiven()) {
      BlockCodes.Found given = blockCodes.given(row);
      each(elements, to, isWide, some -> some.store(blockCodes, given));
    } else if (codes.isOfRow()) {
      ofRow(elements, to, row, isWide);
    } else {
      ofBlocks(elements, to, row, isWide);
    }
  }

  private Collection<Tensor> tensors(Stage stage) {
    return CodeElements.tensors(stage, codes);
  }

  /** Elements that a thread does at once. */
  private int count(Stage stage) {
    int bytes = Double.BYTES;
    for (Tensor tensor : tensors(stage)) {
      bytes = Math.min(bytes, places.type(tensor).bytes());
    }
    return Math.max(LEAST, Accesses.WIDEST / bytes);
  }

  private static String shift(int powerOfTwo) {
    return Integer.toString(Integer.numberOfTrailingZeros(powerOfTwo));
  }

  private String zero() {
    return text.compute(Kind.B32, "mov.u32", "0");
  }

  /** Continues at a label if the rows are not aligned for several elements at once. */
  private void branchUnaligned(CodeElements elements, int count, String label) {
    text.branchIf(elements.isUnaligned(), label);
    String bits =
        text.compute(Kind.B64, "and.b64", places.base(Codes.CODES), Integer.toString(count - 1));
    text.branchIf(text.test("ne.u64", bits, "0"), label);
  }

  private void ofRow(CodeElements elements, String to, ValueCode row, boolean isWide) {
    String largest = zero();
    each(elements, to, isWide, some -> some.largest(largest));
    ofTeam(largest);
    String others = text.test("ne.u32", team.thread(), "0");
    BlockCodes.Found found = blockCodes.find(row, largest, places.base(Codes.SCALES), others);
    each(elements, to, isWide, some -> some.store(blockCodes, found));
  }

  /** The largest number of all threads; each warp leaves its own in shared memory. */
  private void ofTeam(String largest) {
    shuffles.largest(largest, LANES);
    if (!team.isBlock()) {
      return;
    }
    String bytes = Integer.toString(Integer.BYTES);
    String left = text.label("LARGEST_LEFT");
    text.branchIf(text.test("ne.u32", team.lane(), "0"), left);
    String mine = text.compute(Kind.B32, "mad.lo.u32", team.warp(), bytes, base);
    text.put("st.shared.u32", PtxText.at(mine, RowSums.RESULTS), largest);
    text.mark(left);
    text.put("bar.sync", "0");
    text.put("mov.u32", largest, "0");
    String taken = text.label("LARGEST_TAKEN");
    text.branchIf(text.test("ge.u32", team.lane(), team.warps()), taken);
    String other = text.compute(Kind.B32, "mad.lo.u32", team.lane(), bytes, base);
    text.put("ld.shared.u32", largest, PtxText.at(other, RowSums.RESULTS));
    text.mark(taken);
    shuffles.largest(largest, LANES);
  }

  /** Does something with all elements of a row: several at once, then single ones. */
  private void each(
      CodeElements elements, String to, boolean isWide, Consumer<CodeElements.Some> body) {
    String index = text.compute(Kind.B32, "mov.u32", team.thread());
    if (isWide) {
      int count = count(elements.stage());
      String rest = text.label("CODES_REST");
      String loop = text.label("CODES_WIDE");
      String done = text.label("CODES_WIDE_DONE");
      branchUnaligned(elements, count, rest);
      String groups = text.compute(Kind.B32, "shr.u32", to, shift(count));
      String group = text.compute(Kind.B32, "mov.u32", team.thread());
      text.mark(loop);
      text.branchIf(text.test("ge.u32", group, groups), done);
      body.accept(elements.adjacent(group, count));
      text.put("add.u32", group, group, team.threads());
      text.branch(loop);
      text.mark(done);
      text.put("shl.b32", groups, groups, shift(count));
      text.put("add.u32", index, groups, team.thread());
      text.mark(rest);
    }
    String loop = text.label("CODES");
    String done = text.label("CODES_DONE");
    text.mark(loop);
    text.branchIf(text.test("ge.u32", index, to), done);
    body.accept(elements.apart(index, 1));
    text.put("add.u32", index, index, team.threads());
    text.branch(loop);
    text.mark(done);
  }

  private void ofBlocks(CodeElements elements, String to, ValueCode row, boolean isWide) {
    String done = text.label("BLOCKS_DONE");
    if (isWide) {
      int count = count(elements.stage());
      String unaligned = text.label("BLOCKS_UNALIGNED");
      branchUnaligned(elements, count, unaligned);
      adjacentBlocks(elements, to, row, count);
      text.branch(done);
      text.mark(unaligned);
    }
    blocksApart(elements, to, row);
    text.mark(done);
  }

  /** A thread has adjacent elements; several threads have a block, and a warp has whole blocks. */
  private void adjacentBlocks(CodeElements elements, String to, ValueCode row, int count) {
    int threads = codes.format().block() / count;
    String ofWarp = Integer.toString(count);
    String first = text.compute(Kind.B32, "sub.u32", team.thread(), team.lane());
    text.put("mul.lo.u32", first, first, ofWarp);
    String loop = text.label("BLOCKS_WIDE");
    String found = text.label("BLOCKS_FOUND");
    String next = text.label("BLOCKS_NEXT");
    String done = text.label("BLOCKS_WIDE_DONE");
    text.mark(loop);
    text.branchIf(text.test("ge.u32", first, to), done);
    String index = text.compute(Kind.B32, "mad.lo.u32", team.lane(), ofWarp, first);
    String largest = zero();
    // Threads behind the end of the row take part in the shuffles.
    String behind = text.test("ge.u32", index, to);
    text.branchIf(behind, found);
    String group = text.compute(Kind.B32, "shr.u32", index, shift(count));
    CodeElements.Some some = elements.adjacent(group, count);
    some.largest(largest);
    text.mark(found);
    shuffles.largest(largest, threads);
    text.branchIf(behind, next);
    String place = text.compute(Kind.B32, "and.b32", team.lane(), Integer.toString(threads - 1));
    String others = text.test("ne.u32", place, "0");
    some.store(blockCodes, blockCodes.find(row, largest, scaleOf(index), others));
    text.mark(next);
    text.put("mad.lo.u32", first, team.threads(), ofWarp, first);
    text.branch(loop);
    text.mark(done);
  }

  private String scaleOf(String index) {
    String block = text.compute(Kind.B32, "shr.u32", index, shift(codes.format().block()));
    String bytes = Integer.toString(Float.BYTES);
    return text.compute(Kind.B64, "mad.wide.u32", block, bytes, places.base(Codes.SCALES));
  }

  /** A warp has one block; the elements of a thread are 32 apart. */
  private void blocksApart(CodeElements elements, String to, ValueCode row) {
    int block = codes.format().block();
    String size = Integer.toString(block);
    String first =
        team.isBlock() ? text.compute(Kind.B32, "mul.lo.u32", team.warp(), size) : zero();
    String step = team.isBlock() ? text.compute(Kind.B32, "mul.lo.u32", team.warps(), size) : size;
    String loop = text.label("BLOCKS");
    String done = text.label("BLOCKS_APART_DONE");
    text.mark(loop);
    text.branchIf(text.test("ge.u32", first, to), done);
    String index = text.compute(Kind.B32, "add.u32", first, team.lane());
    String largest = zero();
    CodeElements.Some some = elements.apart(index, block / LANES);
    some.largest(largest);
    shuffles.largest(largest, LANES);
    String others = text.test("ne.u32", team.lane(), "0");
    some.store(blockCodes, blockCodes.find(row, largest, scaleOf(first), others));
    text.put("add.u32", first, first, step);
    text.branch(loop);
    text.mark(done);
  }
}
