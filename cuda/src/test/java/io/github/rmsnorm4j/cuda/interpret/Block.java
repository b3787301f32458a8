package io.github.rmsnorm4j.cuda.interpret;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** A block of threads: its warps run one after the other, from barrier to barrier. */
final class Block {
  private final Grid grid;
  private final int number;
  private final CheckedMemory shared;
  private int epoch;

  Block(Grid grid, int number) {
    this.grid = grid;
    this.number = number;
    byte[] bytes = new byte[grid.sharedBytes()];
    shared = new CheckedMemory("shared memory", 0, bytes, false, false, true);
  }

  PtxProgram program() {
    return grid.program();
  }

  GlobalMemory global() {
    return grid.global();
  }

  CheckedMemory shared() {
    return shared;
  }

  int number() {
    return number;
  }

  /** The launch that it is of: those before it have ended. */
  int launch() {
    return grid.global().launch();
  }

  /** How often its threads have met. */
  int epoch() {
    return epoch;
  }

  void count(Instruction instruction, int active) {
    grid.count(instruction, Integer.bitCount(active));
  }

  Traffic traffic() {
    return grid.work().traffic();
  }

  long special(String name, int warp, int lane) {
    int thread = warp * Warp.LANES + lane;
    return switch (name) {
      case "%ctaid.x" -> number;
      case "%tid.x" -> thread;
      case "%ntid.x" -> grid.threads();
      default -> throw new PtxFault("unknown register " + name);
    };
  }

  long parameter(Instruction load) {
    ByteBuffer block = ByteBuffer.wrap(grid.parameters()).order(ByteOrder.nativeOrder());
    return load.type().bytes == 4
        ? block.getInt(load.number()) & 0xffffffffL
        : block.getLong(load.number());
  }

  void run() {
    int threads = grid.threads();
    List<Warp> warps = new ArrayList<>();
    for (int first = 0; first < threads; first += Warp.LANES) {
      int lanes = Math.min(Warp.LANES, threads - first);
      warps.add(new Warp(this, first / Warp.LANES, lanes));
    }
    while (true) {
      int waiting = 0;
      for (int w = 0; w < warps.size(); w++) {
        int turn = grid.reversed() ? warps.size() - 1 - w : w;
        waiting += warps.get(turn).run() == Warp.Stop.BARRIER ? 1 : 0;
      }
      if (waiting == 0) {
        return;
      }
      if (waiting < warps.size()) {
        throw new PtxFault(
            "a divergent barrier: %d of %d warps of block %d are there, the others have ended"
                .formatted(waiting, warps.size(), number));
      }
      Instruction barrier = warps.getFirst().barrier();
      for (Warp warp : warps) {
        if (warp.barrier() != barrier) {
          throw barrier.fault(
              "a divergent barrier: other warps are at line " + warp.barrier().line());
        }
      }
      epoch++;
      warps.forEach(Warp::pass);
    }
  }
}
