package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import java.util.BitSet;
import java.util.List;

/** The vector registers: who needs one takes it, and gives it back. */
final class Registers {
  private final BitSet taken = new BitSet();
  private final boolean avx512;
  private final int count;

  /** The most that were taken at the same time. */
  private int most;

  /** With AVX-512 there are 32, otherwise 16. */
  Registers(boolean avx512) {
    this(avx512, avx512 ? 32 : 16);
  }

  private Registers(boolean avx512, int count) {
    this.avx512 = avx512;
    this.count = count;
  }

  /** As many as are asked for, to find out how many that are. */
  static Registers unlimited(boolean avx512) {
    return new Registers(avx512, Integer.MAX_VALUE);
  }

  /** A register that nobody has. */
  Vector take(int bits) {
    return take(taken.nextClearBit(0), bits);
  }

  /** The last one that nobody has: some instructions reach only the first 16. */
  Vector takeLast(int bits) {
    return take(taken.previousClearBit(count - 1), bits);
  }

  private Vector take(int n, int bits) {
    if (n < 0 || n >= count) {
      throw new IllegalStateException("a kernel needs more than " + count + " vector registers");
    }
    taken.set(n);
    most = Math.max(most, taken.cardinality());
    return new Vector(n, bits);
  }

  void giveBack(Vector register) {
    if (!taken.get(register.n())) {
      throw new IllegalStateException(register + " was given back twice");
    }
    taken.clear(register.n());
  }

  void giveBack(List<Vector> registers) {
    for (Vector register : registers) {
      giveBack(register);
    }
  }

  /** Whether there are masks, too. */
  boolean avx512() {
    return avx512;
  }

  /** The most that were taken at the same time. */
  int most() {
    return most;
  }

  int free() {
    return count - taken.cardinality();
  }
}
