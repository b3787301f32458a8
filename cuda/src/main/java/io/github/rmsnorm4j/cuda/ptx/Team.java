package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.SumOrder;

/**
 * The threads that do a row together, as registers: some threads of a warp, a warp, or a block of
 * threads.
 *
 * @param size how many threads of a warp it has
 * @param lane the place of the thread among those
 * @param mask which threads of the warp they are
 * @param warp the place of its warp in the team; null in a team of one warp or less
 * @param warps how many warps the team has; null in a team of one or less
 * @param thread the place of the thread in the team
 * @param threads how many threads the team has
 * @param number the team's number in the grid
 * @param place the team's number in its block of threads; null if it is the block
 */
record Team(
    int size,
    String lane,
    String mask,
    String warp,
    String warps,
    String thread,
    String threads,
    String number,
    String place) {
  private static final String ALL = "0xffffffff";

  /**
   * The team of this thread.
   *
   * @param size how many threads of a warp it has
   */
  static Team of(PtxText text, Form form, int size) {
    String block = text.compute(Kind.B32, "mov.u32", "%ctaid.x");
    String thread = text.compute(Kind.B32, "mov.u32", "%tid.x");
    String threads = text.compute(Kind.B32, "mov.u32", "%ntid.x");
    String lane = text.compute(Kind.B32, "and.b32", thread, Integer.toString(size - 1));
    String shift = Integer.toString(Integer.numberOfTrailingZeros(size));
    String place = text.compute(Kind.B32, "shr.u32", thread, shift);
    String places = text.compute(Kind.B32, "shr.u32", threads, shift);
    if (form == Form.BLOCK) {
      return new Team(size, lane, ALL, place, places, thread, threads, block, null);
    }
    String number = text.compute(Kind.B32, "mad.lo.u32", block, places, place);
    String mask = size == SumOrder.LANES ? ALL : mask(text, thread, size);
    return new Team(size, lane, mask, null, null, lane, Integer.toString(size), number, place);
  }

  private static String mask(PtxText text, String thread, int size) {
    int first = SumOrder.LANES - size;
    String by = text.compute(Kind.B32, "and.b32", thread, Integer.toString(first));
    String mask = text.compute(Kind.B32, "mov.u32", Integer.toString((1 << size) - 1));
    text.put("shl.b32", mask, mask, by);
    return mask;
  }

  boolean isBlock() {
    return place == null;
  }

  /** What threads of the team wrote to memory before, all of them can read. */
  void meet(PtxText text) {
    if (isBlock()) {
      text.put("bar.sync", "0");
    } else {
      meetInWarp(text);
    }
  }

  /** The same for the threads of one warp. */
  void meetInWarp(PtxText text) {
    text.put("bar.warp.sync", mask);
  }
}
