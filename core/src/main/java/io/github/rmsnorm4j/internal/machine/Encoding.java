package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Constant;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/** The bytes of one instruction, in which the distance to a label may still be missing. */
final class Encoding {
  private static final int RSP = 4;
  private static final int RBP = 5;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** The label whose distance from the instruction's end is missing, or null. */
  private @Nullable Label label;

  /** The place of the distance, in bytes from the start of the instruction, and its length. */
  private int distanceAt;

  private int distanceBytes;

  void bytes(int... values) {
    for (int value : values) {
      out.write(value);
    }
  }

  void int32(int value) {
    bytes(value, value >> 8, value >> 16, value >> 24);
  }

  /** Reserves bytes for the distance to a label. */
  void distance(Label label, int bytes) {
    this.label = label;
    distanceAt = out.size();
    distanceBytes = bytes;
    for (int i = 0; i < bytes; i++) {
      bytes(0);
    }
  }

  @Nullable Label label() {
    return label;
  }

  int size() {
    return out.size();
  }

  /** Whether a distance from the end of the instruction fits in the reserved bytes. */
  boolean fits(int distance) {
    return distanceBytes == Integer.BYTES || distance == (byte) distance;
  }

  /** All bytes, with a distance from the instruction's end. */
  byte[] withDistance(int distance) {
    byte[] bytes = out.toByteArray();
    for (int i = 0; i < distanceBytes; i++) {
      bytes[distanceAt + i] = (byte) (distance >> Byte.SIZE * i);
    }
    return bytes;
  }

  /** The number of a register, or of the base of an address; 0 for a constant. */
  static int number(MachineOperand operand) {
    if (operand instanceof Vector v) {
      return v.n();
    } else if (operand instanceof General g) {
      return g.n();
    } else if (operand instanceof Mask m) {
      return m.n();
    } else if (operand instanceof Address a) {
      return a.base().n();
    } else if (operand instanceof Constant) {
      return 0;
    }
    throw new IllegalArgumentException(operand + " is no register and no memory");
  }

  /** The number of an address's index; 0 without one. */
  static int index(MachineOperand operand) {
    return operand instanceof Address a && a.index() != null ? a.index().n() : 0;
  }

  /**
   * The byte ModRM and the bytes that belong to it.
   *
   * @param scale the unit of a displacement of 8 bits
   */
  void modRm(int reg, MachineOperand rm, int scale) {
    int field = (reg & 7) << 3;
    if (rm instanceof Constant c) {
      bytes(field | RBP);
      distance(c.label(), Integer.BYTES);
    } else if (rm instanceof Address a) {
      address(field, a, scale);
    } else {
      bytes(0xc0 | field | number(rm) & 7);
    }
  }

  private void address(int field, Address a, int scale) {
    int base = a.base().n() & 7;
    int inScale = a.displacement() / scale;
    boolean small = inScale * scale == a.displacement() && inScale == (byte) inScale;
    int mode = a.displacement() == 0 && base != RBP ? 0 : small ? 0x40 : 0x80;
    if (a.index() != null || base == RSP) {
      int index = a.index() == null ? RSP : a.index().n() & 7;
      bytes(mode | field | RSP);
      bytes(Integer.numberOfTrailingZeros(a.scale()) << 6 | index << 3 | base);
    } else {
      bytes(mode | field | base);
    }
    if (mode == 0x40) {
      bytes(inScale);
    } else if (mode == 0x80) {
      int32(a.displacement());
    }
  }
}
