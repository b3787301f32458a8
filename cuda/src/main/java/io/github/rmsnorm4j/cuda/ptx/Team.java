package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;

/**
 * The threads that do a row together, as registers: a warp, or a block of threads.
 *
 * @param lane the place of the thread in its warp, which is that of its lane in the row sums
 * @param warp the place of its warp in the team; null in a team of one warp
 * @param warps how many warps the team has; null in a team of one
 * @param thread the place of the thread in the team
 * @param threads how many threads the team has
 * @param number the team's number in the grid
 * @param place the team's number in its block of threads; null if it is the block
 */
record Team(
    Form form,
    String lane,
    String warp,
    String warps,
    String thread,
    String threads,
    String number,
    String place) {
  static Team of(PtxText text, Form form) {
    String block = text.compute(Kind.B32, "mov.u32", "%ctaid.x");
    String thread = text.compute(Kind.B32, "mov.u32", "%tid.x");
    String threads = text.compute(Kind.B32, "mov.u32", "%ntid.x");
    String lane = text.compute(Kind.B32, "and.b32", thread, "31");
    String warp = text.compute(Kind.B32, "shr.u32", thread, "5");
    String warps = text.compute(Kind.B32, "shr.u32", threads, "5");
    if (form == Form.WARP) {
      String number = text.compute(Kind.B32, "mad.lo.u32", block, warps, warp);
      return new Team(form, lane, null, null, lane, "32", number, warp);
    }
    return new Team(form, lane, warp, warps, thread, threads, block, null);
  }

  boolean isBlock() {
    return form == Form.BLOCK;
  }

  /** What threads of the team wrote to memory before, all of them can read. */
  void meet(PtxText text) {
    if (isBlock()) {
      text.put("bar.sync", "0");
    } else {
      text.put("bar.warp.sync", "0xffffffff");
    }
  }
}
