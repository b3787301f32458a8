package io.github.rmsnorm4j.internal.machine;

import org.jspecify.annotations.Nullable;

/** An operand of an instruction, printed as an assembler reads it. */
public sealed interface MachineOperand {
  /** The number of its bits; 0 if the instruction decides. */
  default int bits() {
    return 0;
  }

  /**
   * A vector register.
   *
   * @param n 0 to 15, with AVX-512 to 31
   * @param bits 128, 256 or 512
   */
  record Vector(int n, int bits) implements MachineOperand {
    /** Checks both. */
    public Vector {
      require(n >= 0 && n < 32, "vector register " + n);
      require(bits == 128 || bits == 256 || bits == 512, "a vector of " + bits + " bits");
    }

    /** The lower bits of the same register, or all of it. */
    public Vector of(int bits) {
      return new Vector(n, bits);
    }

    @Override
    public String toString() {
      return switch (bits) {
            case 128 -> "xmm";
            case 256 -> "ymm";
            default -> "zmm";
          }
          + n;
    }
  }

  /**
   * A general register.
   *
   * @param n 0 to 15
   * @param bits 64, 32 or 16
   */
  record General(int n, int bits) implements MachineOperand {
    private static final String[] NAMES = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};

    public static final General RAX = new General(0, 64);
    public static final General RCX = new General(1, 64);
    public static final General RDX = new General(2, 64);
    public static final General RBX = new General(3, 64);
    public static final General RSP = new General(4, 64);
    public static final General RBP = new General(5, 64);
    public static final General RSI = new General(6, 64);
    public static final General RDI = new General(7, 64);
    public static final General R8 = new General(8, 64);
    public static final General R9 = new General(9, 64);
    public static final General R10 = new General(10, 64);
    public static final General R11 = new General(11, 64);
    public static final General R12 = new General(12, 64);
    public static final General R13 = new General(13, 64);
    public static final General R14 = new General(14, 64);
    public static final General R15 = new General(15, 64);

    /** Checks both. */
    public General {
      require(n >= 0 && n < 16, "general register " + n);
      require(bits == 64 || bits == 32 || bits == 16, "a general register of " + bits + " bits");
    }

    /** The lower bits of the same register, or all of it. */
    public General of(int bits) {
      return new General(n, bits);
    }

    @Override
    public String toString() {
      if (n > 7) {
        return "r" + n + (bits == 64 ? "" : bits == 32 ? "d" : "w");
      }
      return (bits == 64 ? "r" : bits == 32 ? "e" : "") + NAMES[n];
    }
  }

  /**
   * A mask register of AVX-512.
   *
   * @param n 1 to 7: where an encoding has a mask's number, 0 stands for none
   */
  record Mask(int n) implements MachineOperand {
    /** Checks the number. */
    public Mask {
      require(n > 0 && n < 8, "mask register " + n);
    }

    @Override
    public String toString() {
      return "k" + n;
    }
  }

  /** A number in the instruction. */
  record Immediate(int value) implements MachineOperand {
    @Override
    public String toString() {
      return Integer.toString(value);
    }
  }

  /** Memory. */
  sealed interface InMemory extends MachineOperand {}

  /**
   * Memory at {@code base + index * scale + displacement}.
   *
   * @param index null for none
   * @param scale 1, 2, 4 or 8
   */
  record Address(General base, @Nullable General index, int scale, int displacement)
      implements InMemory {
    /** Checks the registers. */
    public Address {
      require(base.bits == 64 && (index == null || index.bits == 64), "addresses have 64 bits");
      require(index == null || index.n != General.RSP.n, "rsp as an index");
      require(scale == 1 || scale == 2 || scale == 4 || scale == 8, "a scale of " + scale);
    }

    /** Memory at a register and some bytes. */
    public static Address at(General base, int displacement) {
      return new Address(base, null, 1, displacement);
    }

    /** The memory so many bytes further on. */
    public Address plus(int bytes) {
      return new Address(base, index, scale, Math.addExact(displacement, bytes));
    }

    @Override
    public String toString() {
      String times = scale == 1 ? "" : "*" + scale;
      String on = displacement == 0 ? "" : (displacement > 0 ? "+" : "") + displacement;
      return "[" + base + (index == null ? "" : "+" + index + times) + on + "]";
    }
  }

  /** A constant behind the code. */
  record Constant(Label label) implements InMemory {
    @Override
    public String toString() {
      return "[rip+" + label.name() + "]";
    }
  }

  /** A place in the code, or of a constant after it. Two labels with one name are different. */
  final class Label implements MachineOperand, Line {
    private final String name;

    Label(String name) {
      this.name = name;
    }

    String name() {
      return name;
    }

    /** A line with a label ends with a colon. */
    @Override
    public String line() {
      return name + ":";
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new IllegalArgumentException("there is no such operand: " + what);
    }
  }
}
