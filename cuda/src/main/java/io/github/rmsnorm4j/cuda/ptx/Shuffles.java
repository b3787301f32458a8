package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.SumOrder;

/** Numbers that go from lane to lane of a warp. */
final class Shuffles {
  private final PtxText text;

  Shuffles(PtxText text) {
    this.text = text;
  }

  /** Adds the lanes of a warp as a tree; the sum is in lane 0. */
  void tree(String lane) {
    for (int w = SumOrder.LANES / 2; w > 0; w /= 2) {
      text.put("add.rn.f64", lane, lane, moved("down", lane, w));
    }
  }

  /** Gives all lanes the number of lane 0. */
  void broadcast(String lane) {
    text.put("mov.f64", lane, moved("idx", lane, 0));
  }

  /**
   * Gives neighbouring lanes the largest of their unsigned integers of 32 bits.
   *
   * @param lanes how many have one result: a power of two
   */
  void largest(String integer, int lanes) {
    for (int w = lanes / 2; w > 0; w /= 2) {
      String other = text.register(Kind.B32);
      text.put("shfl.sync.bfly.b32", other, integer, Integer.toString(w), "31", "0xffffffff");
      text.put("max.u32", integer, integer, other);
    }
  }

  /** A shuffle moves 32 bits. */
  private String moved(String how, String lane, int by) {
    String low = text.register(Kind.B32);
    String high = text.register(Kind.B32);
    text.put("mov.b64", "{" + low + ", " + high + "}", lane);
    String distance = Integer.toString(by);
    for (String half : new String[] {low, high}) {
      text.put("shfl.sync." + how + ".b32", half, half, distance, "31", "0xffffffff");
    }
    return text.compute(Kind.F64, "mov.b64", "{" + low + ", " + high + "}");
  }
}
