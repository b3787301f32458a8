package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import java.util.BitSet;
import java.util.List;

/** The vector registers: who needs one takes it, and gives it back. */
final class Registers {
  private final BitSet taken = new BitSet();
  private final boolean avx512;
  private final int count;

  /** With AVX-512 there are 32, otherwise 16. */
  Registers(boolean avx512) {
    this.avx512 = avx512;
    count = avx512 ? 32 : 16;
  }

  /** A register that nobody has. */
  Vector take(int bits) {
    int n = taken.nextClearBit(0);
    if (n == count) {
      throw new IllegalStateException("a kernel needs more than " + count + " vector registers");
    }
    taken.set(n);
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

  int free() {
    return count - taken.cardinality();
  }
}
