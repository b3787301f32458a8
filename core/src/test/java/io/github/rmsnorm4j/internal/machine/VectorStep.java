package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.InMemory;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/** One instruction on vectors, interpreted. */
final class VectorStep {
  /** Of two floats, as patterns. */
  private interface Floats {
    int apply(int a, int b);
  }

  /** Of two doubles, as patterns. */
  private interface Doubles {
    long apply(long a, long b);
  }

  private final Interpreter interpreter;
  private final VectorRegisters vectors;
  private final Instruction instruction;
  private final VectorOp op;
  private final List<MachineOperand> operands;

  VectorStep(Interpreter interpreter, Instruction instruction, VectorOp op) {
    this.interpreter = interpreter;
    vectors = interpreter.vectors;
    this.instruction = instruction;
    this.op = op;
    operands = instruction.operands();
  }

  private MachineOperand operand(int i) {
    return operands.get(i);
  }

  /** Bytes of the destination, or of the vector that is stored. */
  private int size() {
    MachineOperand decides = op.form == VectorOp.Form.TO ? operand(1) : operand(0);
    if (decides instanceof Mask || decides instanceof General) {
      decides = operand(1);
    }
    return decides.bits() / 8;
  }

  /** So many bytes of a register or of memory. */
  private ByteBuffer bytes(MachineOperand operand, int size) {
    byte[] bytes =
        switch (operand) {
          case Vector v -> Arrays.copyOf(vectors.get(v), size);
          case InMemory m -> interpreter.memory.load(interpreter.address(m), size);
          case General g -> buffer(8).putLong(0, interpreter.get(g)).array();
          default -> throw new AssertionError(operand + " has no bytes");
        };
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  private int number(int i) {
    return ((Immediate) operand(i)).value();
  }

  private void put(MachineOperand to, ByteBuffer result) {
    if (to instanceof Vector v) {
      vectors.set(v, result.array());
    } else {
      interpreter.memory.store(interpreter.address((InMemory) to), result.array());
    }
  }

  void run() {
    if (instruction.mask() != null && op != VectorOp.VBLENDMPS && op != VectorOp.VBLENDMPD) {
      throw new AssertionError("a mask of this instruction is not interpreted");
    }
    int size = size();
    switch (op) {
      case VMOVUPS, VMOVUPS_TO, VMOVNTPS_TO -> put(operand(0), bytes(operand(1), size));
      case VMOVSD -> put(operand(0), extended(bytes(operand(1), 8), 16));
      case VMOVSD_TO -> put(operand(0), bytes(operand(1), 8));
      case VMOVD -> put(operand(0), buffer(16).putInt(0, bytes(operand(1), 4).getInt(0)));
      case VBROADCASTSS -> {
        int pattern = bytes(operand(1), 4).getInt(0);
        floats(size, i -> pattern);
      }
      case VBROADCASTSD -> {
        long pattern = bytes(operand(1), 8).getLong(0);
        doubles(size, i -> pattern);
      }
      case VMOVDDUP -> {
        long pattern = bytes(operand(1), 8).getLong(0);
        doubles(size, i -> pattern);
      }
      case VCVTPS2PD -> {
        ByteBuffer from = bytes(operand(1), size / 2);
        doubles(size, i -> Ieee.widened(from.getInt(4 * i)));
      }
      case VCVTPD2PS -> narrowed();
      case VCVTPH2PS -> {
        ByteBuffer from = bytes(operand(1), size / 2);
        floats(size, i -> Ieee.ofFloat16(from.getShort(2 * i)));
      }
      case VCVTPS2PH_TO -> toFloat16(size);
      case VPMOVZXWD -> {
        ByteBuffer from = bytes(operand(1), size / 2);
        floats(size, i -> from.getShort(2 * i) & 0xffff);
      }
      case VPMOVDW_TO -> {
        ByteBuffer from = bytes(operand(1), size);
        ByteBuffer to = buffer(size / 2);
        for (int i = 0; i < size / 4; i++) {
          to.putShort(2 * i, (short) from.getInt(4 * i));
        }
        put(operand(0), to);
      }
      case VPACKUSDW -> packed(size);
      case VSQRTPD -> {
        ByteBuffer from = bytes(operand(1), size);
        doubles(
            size,
            i -> {
              long a = from.getLong(8 * i);
              return Ieee.result(a, a, Math.sqrt(Double.longBitsToDouble(a)));
            });
      }
      case VFMADD231PD -> fused(size);
      case VPSLLD, VPSRLD -> {
        ByteBuffer from = bytes(operand(1), size);
        int by = number(2);
        floats(
            size,
            i -> op == VectorOp.VPSLLD ? from.getInt(4 * i) << by : from.getInt(4 * i) >>> by);
      }
      case VMOVMSKPD -> {
        ByteBuffer from = bytes(operand(1), operand(1).bits() / 8);
        int mask = 0;
        for (int i = 0; i < from.capacity() / 8; i++) {
          mask |= from.getLong(8 * i) < 0 ? 1 << i : 0;
        }
        interpreter.set((General) operand(0), mask);
      }
      case VEXTRACTF128_TO, VEXTRACTF64X4_TO -> {
        ByteBuffer from = bytes(operand(1), size);
        int half = size / 2;
        byte[] part = Arrays.copyOfRange(from.array(), number(2) * half, (number(2) + 1) * half);
        put(operand(0), ByteBuffer.wrap(part));
      }
      case VPERMQ -> {
        ByteBuffer from = bytes(operand(1), size);
        doubles(size, i -> from.getLong(8 * (i & -4 | number(2) >> 2 * (i & 3) & 3)));
      }
      case VPERMPD -> {
        ByteBuffer order = bytes(operand(1), size);
        ByteBuffer from = bytes(operand(2), size);
        doubles(size, i -> from.getLong(8 * (int) (order.getLong(8 * i) & 7)));
      }
      case VPERM2F128, VSHUFF64X2 -> quarters(size);
      case VFPCLASSPS -> classify();
      case KORTESTW ->
          interpreter.compare(
              (vectors.get((Mask) operand(0)) | vectors.get((Mask) operand(1))) & 0xffff, 0);
      case VCVTNE2PS2BF16 -> roundedPair(size);
      case VUNPCKLPD, VUNPCKHPD -> {
        ByteBuffer a = bytes(operand(1), size);
        ByteBuffer b = bytes(operand(2), size);
        int upper = op == VectorOp.VUNPCKHPD ? 1 : 0;
        doubles(size, i -> ((i & 1) == 0 ? a : b).getLong(8 * ((i & -2) + upper)));
      }
      case VCMPPS, VCMPPD -> compare(size);
      case VBLENDMPS -> {
        ByteBuffer a = bytes(operand(1), size);
        ByteBuffer b = bytes(operand(2), size);
        int mask = vectors.get(instruction.mask());
        floats(size, i -> ((mask >> i & 1) == 1 ? b : a).getInt(4 * i));
      }
      case VBLENDMPD -> {
        ByteBuffer a = bytes(operand(1), size);
        ByteBuffer b = bytes(operand(2), size);
        int mask = vectors.get(instruction.mask());
        doubles(size, i -> ((mask >> i & 1) == 1 ? b : a).getLong(8 * i));
      }
      case VBLENDVPS -> {
        ByteBuffer a = bytes(operand(1), size);
        ByteBuffer b = bytes(operand(2), size);
        ByteBuffer mask = bytes(operand(3), size);
        floats(size, i -> (mask.getInt(4 * i) < 0 ? b : a).getInt(4 * i));
      }
      default -> arithmetic(size);
    }
  }

  private static ByteBuffer extended(ByteBuffer bytes, int size) {
    return ByteBuffer.wrap(Arrays.copyOf(bytes.array(), size)).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void floats(int size, java.util.function.IntUnaryOperator element) {
    ByteBuffer result = buffer(size);
    for (int i = 0; i < size / 4; i++) {
      result.putInt(4 * i, element.applyAsInt(i));
    }
    put(operand(0), result);
  }

  private void doubles(int size, java.util.function.IntToLongFunction element) {
    ByteBuffer result = buffer(size);
    for (int i = 0; i < size / 8; i++) {
      result.putLong(8 * i, element.applyAsLong(i));
    }
    put(operand(0), result);
  }

  /** The destination has half the source's bits, and zeros above. */
  private void narrowed() {
    ByteBuffer from = bytes(operand(1), operand(1).bits() / 8);
    ByteBuffer result = buffer(Math.max(16, from.capacity() / 2));
    for (int i = 0; i < from.capacity() / 8; i++) {
      result.putInt(4 * i, Ieee.rounded(from.getLong(8 * i)));
    }
    put(operand(0), result);
  }

  /** A register has zeros above the patterns. */
  private void toFloat16(int size) {
    if (number(2) != 0) {
      throw new AssertionError("this rounding is not interpreted");
    }
    ByteBuffer from = bytes(operand(1), size);
    ByteBuffer result = buffer(operand(0) instanceof Vector ? Math.max(16, size / 2) : size / 2);
    for (int i = 0; i < size / 4; i++) {
      result.putShort(2 * i, Ieee.float16(from.getInt(4 * i)));
    }
    put(operand(0), result);
  }

  /** In each 128 bits the first operand's, then the second's. */
  private void packed(int size) {
    ByteBuffer a = bytes(operand(1), size);
    ByteBuffer b = bytes(operand(2), size);
    ByteBuffer result = buffer(size);
    for (int i = 0; i < size / 2; i++) {
      int within = i & 7;
      int value = (within < 4 ? a : b).getInt((i & -8) * 2 + (within & 3) * 4);
      result.putShort(2 * i, (short) Math.clamp(value, 0, 0xffff));
    }
    put(operand(0), result);
  }

  /** 128 bits each: lower ones of the result from the first operand, upper ones from the second. */
  private void quarters(int size) {
    ByteBuffer a = bytes(operand(1), size);
    ByteBuffer b = bytes(operand(2), size);
    ByteBuffer result = buffer(size);
    boolean two = op == VectorOp.VPERM2F128;
    for (int q = 0; q < size / 16; q++) {
      int chosen = two ? number(3) >> 4 * q & 3 : number(3) >> 2 * q & 3;
      ByteBuffer from = two ? (chosen < 2 ? a : b) : q < 2 ? a : b;
      int at = two ? chosen & 1 : chosen;
      result.put(16 * q, from, 16 * at, 16);
    }
    put(operand(0), result);
  }

  private void classify() {
    ByteBuffer from = bytes(operand(1), operand(1).bits() / 8);
    if (number(2) != 0xa1) {
      throw new AssertionError("these classes are not interpreted");
    }
    int mask = 0;
    for (int i = 0; i < from.capacity() / 4; i++) {
      int size = from.getInt(4 * i) & 0x7fff_ffff;
      boolean subnormal = size > 0 && size < 0x0080_0000;
      mask |= subnormal || Ieee.isNan(size) ? 1 << i : 0;
    }
    vectors.set((Mask) operand(0), mask);
  }

  /** The second operand's elements come first. */
  private void roundedPair(int size) {
    ByteBuffer upper = bytes(operand(1), size);
    ByteBuffer lower = bytes(operand(2), size);
    ByteBuffer result = buffer(size);
    for (int i = 0; i < size / 4; i++) {
      result.putShort(2 * i, Ieee.bfloat16(lower.getInt(4 * i)));
      result.putShort(size / 2 + 2 * i, Ieee.bfloat16(upper.getInt(4 * i)));
    }
    put(operand(0), result);
  }

  private void fused(int size) {
    ByteBuffer sum = bytes(operand(0), size);
    ByteBuffer x = bytes(operand(1), size);
    ByteBuffer y = bytes(operand(2), size);
    doubles(
        size,
        i -> {
          long a = x.getLong(8 * i);
          long b = y.getLong(8 * i);
          long c = sum.getLong(8 * i);
          double result =
              Math.fma(
                  Double.longBitsToDouble(a),
                  Double.longBitsToDouble(b),
                  Double.longBitsToDouble(c));
          long ofBoth = Ieee.isNan(a) || !Ieee.isNan(b) ? a : b;
          return Ieee.isNan(ofBoth) ? Ieee.result(ofBoth, c, result) : Ieee.result(c, c, result);
        });
  }

  private void compare(int size) {
    ByteBuffer a = bytes(operand(1), size);
    ByteBuffer b = bytes(operand(2), size);
    boolean doubles = op == VectorOp.VCMPPD;
    int bytes = doubles ? 8 : 4;
    int mask = 0;
    ByteBuffer result = buffer(size);
    for (int i = 0; i < size / bytes; i++) {
      double x = doubles ? a.getDouble(8 * i) : a.getFloat(4 * i);
      double y = doubles ? b.getDouble(8 * i) : b.getFloat(4 * i);
      boolean holds =
          switch (number(3)) {
            case 2 -> x <= y;
            case 3 -> Double.isNaN(x) || Double.isNaN(y);
            case 13 -> x >= y;
            default -> throw new AssertionError("this comparison is not interpreted");
          };
      mask |= holds ? 1 << i : 0;
      Arrays.fill(result.array(), i * bytes, (i + 1) * bytes, (byte) (holds ? -1 : 0));
    }
    if (operand(0) instanceof Mask to) {
      vectors.set(to, mask);
    } else {
      put(operand(0), result);
    }
  }

  private void arithmetic(int size) {
    if (op == VectorOp.VXORPS && operand(1).equals(operand(2))) {
      put(operand(0), buffer(size));
      return;
    }
    Floats floats = floats();
    Doubles doubles = doubles();
    ByteBuffer a = bytes(operand(1), size);
    ByteBuffer b = bytes(operand(2), size);
    if (floats != null) {
      floats(size, i -> floats.apply(a.getInt(4 * i), b.getInt(4 * i)));
    } else if (doubles != null) {
      doubles(size, i -> doubles.apply(a.getLong(8 * i), b.getLong(8 * i)));
    } else {
      throw new AssertionError(op + " is not interpreted");
    }
  }

  private static float f(int pattern) {
    return Float.intBitsToFloat(pattern);
  }

  private static double d(long pattern) {
    return Double.longBitsToDouble(pattern);
  }

  private Floats floats() {
    return switch (op) {
      case VADDPS -> (a, b) -> Ieee.result(a, b, f(a) + f(b));
      case VSUBPS -> (a, b) -> Ieee.result(a, b, f(a) - f(b));
      case VMULPS -> (a, b) -> Ieee.result(a, b, f(a) * f(b));
      case VDIVPS -> (a, b) -> Ieee.result(a, b, f(a) / f(b));
      case VXORPS -> (a, b) -> a ^ b;
      case VANDPS, VPAND, VPANDD -> (a, b) -> a & b;
      case VPADDD -> Integer::sum;
      default -> null;
    };
  }

  private Doubles doubles() {
    return switch (op) {
      case VADDPD -> (a, b) -> Ieee.result(a, b, d(a) + d(b));
      case VSUBPD -> (a, b) -> Ieee.result(a, b, d(a) - d(b));
      case VMULPD -> (a, b) -> Ieee.result(a, b, d(a) * d(b));
      case VDIVPD -> (a, b) -> Ieee.result(a, b, d(a) / d(b));
      // The second one where they are equal, or one is NaN.
      case VMAXPD -> (a, b) -> d(a) > d(b) ? a : b;
      default -> null;
    };
  }
}
