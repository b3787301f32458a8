package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import java.util.Arrays;

/** The interpreter's vector and mask registers. */
final class VectorRegisters {
  private static final int BYTES = 64;

  private final byte[][] vectors = new byte[32][];
  private final int[] masks = new int[8];
  private final boolean[] maskKnown = new boolean[8];
  private boolean dirty;

  static boolean isArithmetic(VectorOp op) {
    return switch (op) {
      case VADDPS,
          VSUBPS,
          VMULPS,
          VDIVPS,
          VADDPD,
          VSUBPD,
          VMULPD,
          VDIVPD,
          VMAXPS,
          VMINPS,
          VMINPD,
          VMAXPD,
          VSQRTPD,
          VFMADD213PS,
          VFMADD231PS,
          VFMADD213PD,
          VFMADD231PD,
          VFNMADD231PS,
          VCVTPS2PD,
          VCVTPD2PS,
          VCVTPS2DQ,
          VCMPPS,
          VCMPPD ->
          true;
      default -> false;
    };
  }

  byte[] get(Vector register) {
    byte[] all = vectors[register.n()];
    if (all == null) {
      throw new AssertionError(register + " was never written");
    }
    return Arrays.copyOf(all, register.bits() / 8);
  }

  boolean isKnown(Vector register) {
    return vectors[register.n()] != null;
  }

  /** Sets a register; what is above becomes 0. */
  void set(Vector register, byte[] bytes) {
    vectors[register.n()] = Arrays.copyOf(Arrays.copyOf(bytes, register.bits() / 8), BYTES);
    dirty |= register.bits() > 128;
  }

  int get(Mask mask) {
    if (!maskKnown[mask.n()]) {
      throw new AssertionError(mask + " was never written");
    }
    return masks[mask.n()];
  }

  void set(Mask mask, int value) {
    masks[mask.n()] = value;
    maskKnown[mask.n()] = true;
  }

  boolean areDirty() {
    return dirty;
  }

  void zeroUpper() {
    dirty = false;
    for (int n = 0; n < 16; n++) {
      if (vectors[n] != null) {
        Arrays.fill(vectors[n], 16, BYTES, (byte) 0);
      }
    }
  }
}
