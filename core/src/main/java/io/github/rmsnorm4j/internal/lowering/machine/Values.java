package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.codec.Power;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.MachineOperand;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Computes values in vector registers: each once, and its register is free after its last use.
 * There is one for each vector of elements, or of rows.
 */
final class Values {
  /** Where values are that are not computed here. */
  interface Leaves {
    /** Memory or a register that stays, if an instruction can read it there; otherwise null. */
    MachineOperand inPlace(Value value);

    /** Loads a value that is not in place. */
    void load(Value value, Vector into);

    /** Whether a value is one of them. */
    boolean has(Value value);

    /** Its number, if that is known now; otherwise NaN. */
    default double number(Value value) {
      return value.kind() == Value.Kind.LITERAL ? value.number() : Double.NaN;
    }
  }

  private static final Mask CHOSEN = new Mask(1);

  /** Comparisons that are false where one of two is NaN. */
  private static final Immediate AT_LEAST = new Immediate(29);

  private static final Immediate ABOVE = new Immediate(30);

  private final Assembler a;
  private final Registers registers;
  private final Leaves leaves;
  private final Rounding rounding;

  /** Elements, or rows, of a vector. */
  private final int elements;

  private final Map<Value, Vector> known = new HashMap<>();
  private final Map<Value, Integer> uses = new HashMap<>();

  /** For statements with these values. */
  Values(Assembler a, Registers registers, Leaves leaves, int elements, List<Value> results) {
    this.a = a;
    this.registers = registers;
    this.leaves = leaves;
    this.elements = elements;
    rounding = new Rounding(a, registers);
    for (Value result : results) {
      count(result);
    }
  }

  private void count(Value value) {
    int before = uses.getOrDefault(value, 0);
    uses.put(value, before + 1);
    if (before == 0 && !leaves.has(value)) {
      for (Value stage : value.operands()) {
        count(stage);
      }
    }
  }

  /** Bits of a vector of floats, or of doubles. */
  private int bits(boolean float64) {
    return Math.max(128, elements * (float64 ? Double.SIZE : Float.SIZE));
  }

  /** A register with a value; {@link #done} ends this use of it. */
  Vector get(Value value) {
    Vector register = known.get(value);
    if (register == null) {
      register = compute(value);
      known.put(value, register);
    }
    return register;
  }

  /** A register with a value, or memory with it. */
  private MachineOperand operand(Value value) {
    MachineOperand inPlace = leaves.has(value) && isReadOnce(value) ? leaves.inPlace(value) : null;
    return inPlace == null ? get(value) : inPlace;
  }

  /**
   * Whether an element is used once. Only then may it be read where it is used: before a second use
   * it may have been overwritten.
   */
  private boolean isReadOnce(Value value) {
    return value.kind() != Value.Kind.ELEMENT || uses.get(value) == 1 && !known.containsKey(value);
  }

  /** Ends a use. What is one for the row is loaded again if it is in memory. */
  void done(Value value) {
    int left = uses.get(value) - 1;
    uses.put(value, left);
    MachineOperand staying = staying(value);
    if (left == 0 || !value.perElement() && staying instanceof MachineOperand.InMemory) {
      Vector register = known.remove(value);
      if (register != null && !register.equals(staying)) {
        registers.giveBack(register);
      }
    }
  }

  private MachineOperand staying(Value value) {
    return leaves.has(value) ? leaves.inPlace(value) : null;
  }

  private Vector compute(Value value) {
    if (leaves.has(value)) {
      return load(value);
    }
    return switch (value.kind()) {
      case WIDENED -> one(VectorOp.VCVTPS2PD, value);
      case ROUNDED -> one(VectorOp.VCVTPD2PS, value);
      case ROOT -> one(VectorOp.VSQRTPD, value);
      case FIRST -> one(VectorOp.VMOVUPS, value);
      case CAST, ONE_NAN -> rounded(value);
      case ABOVE, AT_LEAST -> choice(value);
      case MAX, MIN -> extreme(value);
      case POWER -> power(value);
      case PLUS, MINUS, TIMES, OVER -> two(value);
      case FMA -> fused(value);
      default -> throw new UnsupportedOperationException("no machine code for " + value.text());
    };
  }

  private Vector rounded(Value value) {
    if (value.float64()) {
      throw new UnsupportedOperationException("no machine code for " + value.text());
    }
    Vector of = get(value.a());
    Vector result = registers.take(bits(false));
    if (value.kind() == Value.Kind.CAST) {
      rounding.round(value.type(), of, result);
    } else {
      rounding.oneNan(of, result);
    }
    done(value.a());
    return result;
  }

  private Vector load(Value value) {
    MachineOperand inPlace = leaves.inPlace(value);
    if (inPlace instanceof Vector register) {
      return register;
    }
    Vector register = registers.take(bits(value.float64()));
    if (inPlace == null) {
      leaves.load(value, register);
    } else {
      a.op(VectorOp.VMOVUPS, register, inPlace);
    }
    return register;
  }

  private Vector one(VectorOp op, Value value) {
    Value of = value.a();
    MachineOperand operand = op == VectorOp.VCVTPD2PS ? get(of) : operand(of);
    done(of);
    Vector result = registers.take(bits(value.float64()));
    a.op(op, result, operand);
    return result;
  }

  private Vector two(Value b) {
    double divisor = b.kind() == Value.Kind.OVER ? leaves.number(b.b()) : Double.NaN;
    if (b.float64() && isPowerOfTwo(divisor)) {
      return times(b, 1 / divisor);
    }
    boolean commutes = b.kind() == Value.Kind.PLUS || b.kind() == Value.Kind.TIMES;
    boolean swaps = commutes && operandInMemory(b.a()) && !operandInMemory(b.b());
    Value first = swaps ? b.b() : b.a();
    Value second = swaps ? b.a() : b.b();
    Vector x = get(first);
    MachineOperand y = first.equals(second) ? x : operand(second);
    done(first);
    done(second);
    Vector result = registers.take(bits(b.float64()));
    a.op(op(b.kind(), b.float64()), result, x, y);
    return result;
  }

  /** Then multiplying by its reciprocal, which is exact, is the same as dividing by it. */
  private static boolean isPowerOfTwo(double number) {
    return number >= 1 && number <= 0x1p100 && Math.scalb(1.0, Math.getExponent(number)) == number;
  }

  private Vector times(Value b, double factor) {
    Vector x = get(b.a());
    done(b.a());
    done(b.b());
    Vector result = registers.take(bits(true));
    a.op(VectorOp.VMULPD, result, x, a.constant(Double.doubleToRawLongBits(factor)));
    return result;
  }

  /** The instruction overwrites an operand: one that is not used again, or a copy. */
  private Vector fused(Value f) {
    boolean d = f.float64();
    for (Value operand : f.operands()) {
      if (!operandInMemory(operand)) {
        get(operand);
      }
    }
    if (isUsedLast(f.c())) {
      boolean swaps = operandInMemory(f.a());
      Value x = swaps ? f.b() : f.a();
      Value y = swaps ? f.a() : f.b();
      Vector sum = owned(f.c());
      a.op(d ? VectorOp.VFMADD231PD : VectorOp.VFMADD231PS, sum, get(x), operand(y));
      done(x);
      done(y);
      return sum;
    }
    boolean swaps = !isUsedLast(f.a()) && (isUsedLast(f.b()) || operandInMemory(f.b()));
    Value y = swaps ? f.a() : f.b();
    Vector product = owned(swaps ? f.b() : f.a());
    a.op(d ? VectorOp.VFMADD213PD : VectorOp.VFMADD213PS, product, get(y), operand(f.c()));
    done(y);
    done(f.c());
    return product;
  }

  /** Whether its register may be overwritten by what is computed from it now. */
  private boolean isUsedLast(Value value) {
    return uses.get(value) == 1 && staying(value) == null;
  }

  /** Ends a use of a value; leaves it in a register that may be overwritten. */
  private Vector owned(Value value) {
    boolean loads = operandInMemory(value);
    Vector register = loads ? load(value) : get(value);
    int left = uses.get(value) - 1;
    uses.put(value, left);
    if (loads || left == 0 && !register.equals(staying(value))) {
      known.remove(value);
      return register;
    }
    Vector copy = registers.take(register.bits());
    a.op(VectorOp.VMOVUPS, copy, register);
    return copy;
  }

  /** What is compared may be NaN, and is not above anything then. */
  private Vector choice(Value c) {
    Vector x = get(c.a());
    Vector y = get(c.b());
    Vector then = get(c.operands().get(2));
    Vector otherwise = get(c.operands().get(3));
    Vector result = registers.take(bits(true));
    Immediate comparison = c.kind() == Value.Kind.AT_LEAST ? AT_LEAST : ABOVE;
    if (registers.avx512()) {
      a.op(VectorOp.VCMPPD, CHOSEN, x, y, comparison);
      a.masked(CHOSEN, VectorOp.VBLENDMPD, result, otherwise, then);
    } else {
      a.op(VectorOp.VCMPPD, result, x, y, comparison);
      a.op(VectorOp.VBLENDVPS, result, otherwise, then, result);
    }
    for (Value stage : c.operands()) {
      done(stage);
    }
    return result;
  }

  private boolean operandInMemory(Value value) {
    return !known.containsKey(value)
        && leaves.has(value)
        && isReadOnce(value)
        && leaves.inPlace(value) instanceof MachineOperand.InMemory;
  }

  private static VectorOp op(Value.Kind operation, boolean float64) {
    return switch (operation) {
      case PLUS -> float64 ? VectorOp.VADDPD : VectorOp.VADDPS;
      case MINUS -> float64 ? VectorOp.VSUBPD : VectorOp.VSUBPS;
      case TIMES -> float64 ? VectorOp.VMULPD : VectorOp.VMULPS;
      case OVER -> float64 ? VectorOp.VDIVPD : VectorOp.VDIVPS;
      case MAX -> float64 ? VectorOp.VMAXPD : VectorOp.VMAXPS;
      case MIN -> float64 ? VectorOp.VMINPD : VectorOp.VMINPS;
      default -> throw new IllegalArgumentException("not one instruction: " + operation);
    };
  }

  /**
   * A maximum or minimum with a constant that is not 0: the instruction gives its second operand
   * where one is NaN.
   */
  private Vector extreme(Value b) {
    if (b.b().kind() != Value.Kind.LITERAL || b.b().number() == 0) {
      return max(b);
    }
    Vector x = get(b.a());
    Vector limit = get(b.b());
    done(b.a());
    done(b.b());
    Vector result = registers.take(bits(b.float64()));
    a.op(op(b.kind(), b.float64()), result, limit, x);
    return result;
  }

  /** The last bits of the operand become the exponent. */
  private Vector power(Value value) {
    boolean d = value.float64();
    Vector of = get(value.a());
    done(value.a());
    Vector result = registers.take(bits(d));
    int by = d ? Power.DOUBLE_BITS : Power.FLOAT_BITS;
    a.op(d ? VectorOp.VPSLLQ : VectorOp.VPSLLD, result, of, new Immediate(by));
    long one = d ? Power.DOUBLE_ONE : floats(Power.FLOAT_ONE);
    a.op(d ? VectorOp.VPADDQ : VectorOp.VPADDD, result, result, a.constant(one));
    return result;
  }

  /** A constant in all elements. */
  static MachineOperand constant(Assembler a, Value literal) {
    return a.constant(
        literal.float64()
            ? Double.doubleToRawLongBits(literal.number())
            : floats(Float.floatToRawIntBits((float) literal.number())));
  }

  /** Two elements with a pattern. */
  private static long floats(int pattern) {
    return Integer.toUnsignedLong(pattern) * 0x1_0000_0001L;
  }

  /**
   * A maximum with 0 or a number of the call, which is no NaN: the instruction gives its second
   * operand where one is NaN, or both are 0. Adding 0 makes -0 to 0.
   */
  private Vector max(Value b) {
    boolean constant = b.b().kind() == Value.Kind.LITERAL || b.b().kind() == Value.Kind.CALL;
    if (!constant || !b.float64() || b.kind() == Value.Kind.MIN) {
      throw new UnsupportedOperationException("no machine code for " + b.text());
    }
    Vector x = get(b.a());
    Vector y = get(b.b());
    int bits = bits(true);
    Vector zeroed = registers.take(bits);
    Vector other = registers.take(bits);
    a.op(VectorOp.VADDPD, zeroed, x, a.constant(0));
    a.op(VectorOp.VADDPD, other, y, a.constant(0));
    done(b.a());
    done(b.b());
    a.op(VectorOp.VMAXPD, zeroed, other, zeroed);
    registers.giveBack(other);
    return zeroed;
  }
}
