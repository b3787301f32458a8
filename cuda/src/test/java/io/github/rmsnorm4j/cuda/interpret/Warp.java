package io.github.rmsnorm4j.cuda.interpret;

import java.util.Arrays;

/**
 * The 32 threads of a warp. Those that are at one instruction do it together; where they are at
 * different ones, those that are least far do theirs first.
 */
final class Warp {
  static final int LANES = 32;

  /** Why a warp stopped. */
  enum Stop {
    BARRIER,
    END
  }

  private final Block block;
  private final int number;
  private final PtxProgram program;
  private final Instruction[] instructions;

  /** By register and lane. */
  private final long[] registers;

  /** By register: the lanes that have written it. */
  private final int[] written;

  private final int[] next = new int[LANES];
  private final CheckedMemory.User[] users = new CheckedMemory.User[LANES];
  private final int all;

  /** Lanes that have not returned. */
  private int live;

  /** The addresses of one access. */
  private final long[] addresses = new long[LANES];

  private int warpEpoch;

  /** Where it waits, or waited last. */
  private Instruction barrier;

  /**
   * A warp at the first instruction.
   *
   * @param lanes how many threads it has
   */
  Warp(Block block, int number, int lanes) {
    this.block = block;
    this.number = number;
    program = block.program();
    instructions = program.instructions().toArray(Instruction[]::new);
    registers = new long[program.registers() * LANES];
    written = new int[program.registers()];
    all = lanes == LANES ? -1 : (1 << lanes) - 1;
    live = all;
    program.constants().forEach((register, bits) -> fill(register, bits));
    program
        .specials()
        .forEach(
            (register, special) -> {
              for (int lane = 0; lane < LANES; lane++) {
                registers[register * LANES + lane] = block.special(special, number, lane);
              }
              written[register] = -1;
            });
    meet(all, -1);
  }

  private void fill(int register, long bits) {
    Arrays.fill(registers, register * LANES, (register + 1) * LANES, bits);
    written[register] = -1;
  }

  /** Threads have met others: what they did before is seen now. */
  private void meet(int lanes, int others) {
    for (int lane = 0; lane < LANES; lane++) {
      if ((lanes >>> lane & 1) != 0) {
        users[lane] =
            new CheckedMemory.User(
                block.launch(), block.number(), number, lane, block.epoch(), warpEpoch, others);
      }
    }
  }

  /** The barrier where it waits. */
  Instruction barrier() {
    return barrier;
  }

  /** Goes on after a barrier of the block. */
  void pass() {
    meet(all, -1);
  }

  /** Runs until a barrier of the block, or the end. */
  Stop run() {
    while (live != 0) {
      int at = Integer.MAX_VALUE;
      int active = 0;
      for (int lane = 0; lane < LANES; lane++) {
        if ((live >>> lane & 1) != 0 && next[lane] <= at) {
          active = next[lane] < at ? 1 << lane : active | 1 << lane;
          at = next[lane];
        }
      }
      if (active == live) {
        if (together(at)) {
          return Stop.BARRIER;
        }
      } else {
        step(at, active);
      }
    }
    return Stop.END;
  }

  /** Runs while all threads are at one instruction; true at a barrier of the block. */
  private boolean together(int at) {
    while (true) {
      if (at >= instructions.length) {
        throw new PtxFault("the end of the kernel is reached without ret");
      }
      Instruction i = instructions[at];
      if (i.kind() == Instruction.Kind.BRANCH || i.kind() == Instruction.Kind.RETURN) {
        branch(i, at, live);
        int first = next[Integer.numberOfTrailingZeros(live == 0 ? 1 : live)];
        for (int lane = 0; lane < LANES; lane++) {
          if (live == 0 || (live >>> lane & 1) != 0 && next[lane] != first) {
            return false;
          }
        }
        at = first;
        continue;
      }
      at++;
      execute(i, live);
      if (i.kind() == Instruction.Kind.BARRIER) {
        Arrays.fill(next, at);
        barrier = i;
        return true;
      }
    }
  }

  private void step(int at, int active) {
    Instruction i = instructions[at];
    if (i.kind() == Instruction.Kind.BRANCH || i.kind() == Instruction.Kind.RETURN) {
      branch(i, at, active);
      return;
    }
    execute(i, active);
    for (int lane = 0; lane < LANES; lane++) {
      if ((active >>> lane & 1) != 0) {
        next[lane] = at + 1;
      }
    }
  }

  private void branch(Instruction i, int at, int active) {
    int taken = guarded(i, active);
    block.count(i, active);
    for (int lane = 0; lane < LANES; lane++) {
      if ((active >>> lane & 1) != 0) {
        next[lane] = (taken >>> lane & 1) != 0 ? i.number() : at + 1;
      }
    }
    if (i.kind() == Instruction.Kind.RETURN) {
      live &= ~taken;
    }
  }

  private int guarded(Instruction i, int active) {
    if (i.guard() < 0) {
      return active;
    }
    requireWritten(i, i.guard(), active);
    int taken = 0;
    for (int lane = 0; lane < LANES; lane++) {
      boolean holds = registers[i.guard() * LANES + lane] != 0;
      taken |= holds != i.negated() ? 1 << lane : 0;
    }
    return taken & active;
  }

  private void requireWritten(Instruction i, int register, int lanes) {
    if ((written[register] & lanes) != lanes) {
      throw i.fault("reads a register that was not written, in warp " + number);
    }
  }

  private void execute(Instruction i, int active) {
    if (i.guard() >= 0) {
      throw i.fault("only branches may have a guard");
    }
    block.count(i, active);
    for (int register : i.operands()) {
      requireWritten(i, register, active);
    }
    switch (i.kind()) {
      case COMPUTE -> compute(i, active);
      case UNPACK, PACK -> halves(i, active);
      case LOAD_PARAMETER -> fillActive(i.results()[0], block.parameter(i), active);
      case LOAD_GLOBAL, LOAD_SHARED, STORE_GLOBAL, STORE_SHARED -> access(i, active);
      case SHUFFLE_DOWN, SHUFFLE_INDEX, SHUFFLE_BUTTERFLY -> shuffle(i, active);
      case BARRIER -> {
        if (active != all || all != -1) {
          throw divergent(i, active, "barrier");
        }
      }
      case WARP_BARRIER -> {
        requireMasks(i, i.operands()[0], active, "barrier");
        warpEpoch++;
        for (int lane = 0; lane < LANES; lane++) {
          meet(active & 1 << lane, (int) registers[i.operands()[0] * LANES + lane]);
        }
      }
      default -> throw i.fault("is not known here");
    }
    for (int register : i.results()) {
      written[register] |= active;
    }
  }

  private PtxFault divergent(Instruction i, int active, String what) {
    return i.fault(
        "a divergent %s: lanes %08x of warp %d are here".formatted(what, active, number));
  }

  /** All threads that the mask of a thread names must be here, itself among them. */
  private void requireMasks(Instruction i, int register, int active, String what) {
    for (int lane = 0; lane < LANES; lane++) {
      if ((active >>> lane & 1) != 0) {
        int mask = (int) registers[register * LANES + lane];
        if ((mask & ~active) != 0 || (mask >>> lane & 1) == 0) {
          throw divergent(i, active, what);
        }
      }
    }
  }

  private void compute(Instruction i, int active) {
    int[] of = i.operands();
    int a = of[0] * LANES;
    int b = of[Math.min(1, of.length - 1)] * LANES;
    int c = of[of.length - 1] * LANES;
    int to = i.results()[0] * LANES;
    Operation.Function function = i.operation().function();
    Type type = i.type();
    for (int lane = 0; lane < LANES; lane++) {
      if ((active >>> lane & 1) != 0) {
        long bits = function.apply(registers[a + lane], registers[b + lane], registers[c + lane]);
        registers[to + lane] = type.cut(bits);
      }
    }
  }

  private void fillActive(int register, long bits, int active) {
    for (int lane = 0; lane < LANES; lane++) {
      if ((active >>> lane & 1) != 0) {
        registers[register * LANES + lane] = bits;
      }
    }
  }

  private void halves(Instruction i, int active) {
    boolean packs = i.kind() == Instruction.Kind.PACK;
    int bits = i.number();
    for (int lane = 0; lane < LANES; lane++) {
      if ((active >>> lane & 1) != 0) {
        long first = registers[i.operands()[0] * LANES + lane];
        if (packs) {
          long second = registers[i.operands()[1] * LANES + lane];
          registers[i.results()[0] * LANES + lane] = first | second << bits;
        } else {
          registers[i.results()[0] * LANES + lane] = i.type().cut(first);
          registers[i.results()[1] * LANES + lane] = i.type().cut(first >>> bits);
        }
      }
    }
  }

  /** The number has the distance, and above it which bits of a lane its segment has in common. */
  private void shuffle(Instruction i, int active) {
    requireMasks(i, i.operands()[1], active, "shuffle");
    int from = i.operands()[0] * LANES;
    long[] given = Arrays.copyOfRange(registers, from, from + LANES);
    int distance = i.number() & 0xff;
    int segment = i.number() >>> 8;
    for (int lane = 0; lane < LANES; lane++) {
      if ((active >>> lane & 1) != 0) {
        int first = lane & segment;
        int last = first | ~segment & LANES - 1;
        int source =
            switch (i.kind()) {
              case SHUFFLE_DOWN -> lane + distance;
              case SHUFFLE_BUTTERFLY -> lane ^ distance;
              default -> first + distance;
            };
        int chosen = source <= last ? source : lane;
        int mask = (int) registers[i.operands()[1] * LANES + lane];
        if ((mask >>> chosen & 1) == 0) {
          throw i.fault(
              "lane " + lane + " takes from lane " + chosen + ", which is not in its mask");
        }
        registers[i.results()[0] * LANES + lane] = given[chosen];
      }
    }
  }

  private void access(Instruction i, int active) {
    boolean global =
        i.kind() == Instruction.Kind.LOAD_GLOBAL || i.kind() == Instruction.Kind.STORE_GLOBAL;
    for (int lane = 0; lane < LANES; lane++) {
      if ((active >>> lane & 1) != 0) {
        long address = registers[i.operands()[0] * LANES + lane] + i.number();
        addresses[lane] = address;
        try {
          CheckedMemory memory = global ? block.global().at(address) : block.shared();
          access(i, lane, memory, memory.offset(address));
        } catch (PtxFault fault) {
          throw i.fault(
              "%s (lane %d of warp %d of block %d)"
                  .formatted(fault.getMessage(), lane, number, block.number()));
        }
      }
    }
    boolean loads = i.results().length > 0;
    int bytes = i.type().bytes * (loads ? i.results().length : i.operands().length - 1);
    if (global) {
      block.traffic().global(loads, addresses, active, bytes);
    } else {
      block.traffic().shared(addresses, active, bytes);
    }
  }

  private void access(Instruction i, int lane, CheckedMemory memory, long at) {
    int size = i.type().bytes;
    boolean loads = i.results().length > 0;
    int count = loads ? i.results().length : i.operands().length - 1;
    memory.check(at, size * count, !loads, users[lane]);
    for (int k = 0; k < count; k++) {
      int offset = (int) at + k * size;
      if (loads) {
        registers[i.results()[k] * LANES + lane] = memory.get(offset, size);
      } else {
        memory.set(offset, size, registers[i.operands()[k + 1] * LANES + lane]);
      }
    }
  }
}
