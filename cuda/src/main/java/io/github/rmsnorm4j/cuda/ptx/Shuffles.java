package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.cuda.ptx.PtxText.Kind;
import io.github.rmsnorm4j.internal.formula.SumOrder;

/** Numbers that go from thread to thread of a team, within a warp. */
final class Shuffles {
  private final PtxText text;
  private final Team team;

  Shuffles(PtxText text, Team team) {
    this.text = text;
    this.team = team;
  }

  /**
   * Adds the 32 lanes of a row as a tree; the sum is in the first lane of the first thread.
   *
   * @param lanes those of this thread, which are one after the other
   */
  void tree(String... lanes) {
    for (int w = SumOrder.LANES / 2; w > 0; w /= 2) {
      if (w >= lanes.length) {
        for (String lane : lanes) {
          text.put("add.rn.f64", lane, lane, moved("down", lane, w / lanes.length));
        }
      } else {
        for (int k = 0; k < w; k++) {
          text.put("add.rn.f64", lanes[k], lanes[k], lanes[k + w]);
        }
      }
    }
  }

  /** Gives all threads the number of the first one. */
  void broadcast(String lane) {
    text.put("mov.f64", lane, moved("idx", lane, 0));
  }

  /**
   * Gives neighbouring lanes of a warp the largest of their unsigned integers of 32 bits.
   *
   * @param lanes how many have one result: a power of two
   */
  void largest(String integer, int lanes) {
    for (int w = lanes / 2; w > 0; w /= 2) {
      String other = text.register(Kind.B32);
      text.put("shfl.sync.bfly.b32", other, integer, Integer.toString(w), "31", team.mask());
      text.put("max.u32", integer, integer, other);
    }
  }

  /** A shuffle moves 32 bits, and stays among the threads of the team. */
  private String moved(String how, String lane, int by) {
    String low = text.register(Kind.B32);
    String high = text.register(Kind.B32);
    text.put("mov.b64", "{" + low + ", " + high + "}", lane);
    String distance = Integer.toString(by);
    String within = Integer.toString((SumOrder.LANES - team.size()) << 8 | SumOrder.LANES - 1);
    for (String half : new String[] {low, high}) {
      text.put("shfl.sync." + how + ".b32", half, half, distance, within, team.mask());
    }
    return text.compute(Kind.F64, "mov.b64", "{" + low + ", " + high + "}");
  }
}
