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
  /** Of an element of 32 bits. */
  private interface IntToShort {
    short apply(int pattern);
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
    if (instruction.mask() != null && op != VectorOp.VBLENDMPS && op != VectorOp.VBLENDMPD) {
      leaveOut(to, result.array());
    }
    if (to instanceof Vector v) {
      vectors.set(v, result.array());
    } else {
      interpreter.memory.store(interpreter.address((InMemory) to), result.array());
    }
  }

  /**
   * Elements that the mask leaves out stay as they are. All of the memory has to be there, though a
   * processor asks for no more than the mask has ones for.
   */
  private void leaveOut(MachineOperand to, byte[] result) {
    byte[] before = bytes(to, result.length).array();
    long mask = vectors.get(instruction.mask());
    int size = elementBytes();
    for (int at = 0; at < result.length; at += size) {
      if ((mask >> at / size & 1) == 0) {
        System.arraycopy(before, at, result, at, size);
      }
    }
  }

  /** Of the result's elements, as masks count them. */
  private int elementBytes() {
    return switch (op) {
      case VPMOVDW_TO, VCVTNE2PS2BF16, VPACKUSDW -> Short.BYTES;
      case VCVTPS2PD -> Double.BYTES;
      case VCVTPD2PS -> Float.BYTES;
      default -> op.evexW == 1 ? Double.BYTES : Float.BYTES;
    };
  }

  void run() {
    int size = size();
    switch (op) {
      case VMOVUPS, VMOVUPS_TO, VMOVNTPS_TO -> put(operand(0), bytes(operand(1), size));
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
      case VCVTPS2PH_TO -> {
        int mode = number(2);
        shorts(size, pattern -> Ieee.float16(pattern, mode));
      }
      case VPMOVZXWD -> {
        ByteBuffer from = bytes(operand(1), size / 2);
        floats(size, i -> from.getShort(2 * i) & 0xffff);
      }
      case VPMOVDW_TO -> shorts(size, pattern -> (short) pattern);
      case VPACKUSDW, VPACKSSDW -> packed(size);
      case VPACKSSWB, VPACKUSWB -> packedBytes(size);
      case VCVTPS2DQ -> {
        ByteBuffer from = bytes(operand(1), size);
        floats(size, i -> integer(from.getFloat(4 * i)));
      }
      case VPMAXSD -> {
        ByteBuffer a = bytes(operand(1), size);
        ByteBuffer b = bytes(operand(2), size);
        floats(size, i -> Math.max(a.getInt(4 * i), b.getInt(4 * i)));
      }
      case VPERMD -> {
        ByteBuffer order = bytes(operand(1), size);
        ByteBuffer from = bytes(operand(2), size);
        floats(size, i -> from.getInt(4 * (order.getInt(4 * i) & size / 4 - 1)));
      }
      case VSQRTPD -> {
        ByteBuffer from = bytes(operand(1), size);
        doubles(
            size,
            i -> {
              long a = from.getLong(8 * i);
              return Ieee.result(a, a, Math.sqrt(Double.longBitsToDouble(a)));
            });
      }
      case VFMADD213PS, VFMADD231PS, VFNMADD231PS, VFMADD213PD, VFMADD231PD -> fused(size);
      case VPSRAD -> {
        ByteBuffer from = bytes(operand(1), size);
        int by = Math.min(number(2), 31);
        floats(size, i -> from.getInt(4 * i) >> by);
      }
      case VPSLLD, VPSRLD -> {
        ByteBuffer from = bytes(operand(1), size);
        int by = number(2);
        floats(size, i -> by > 31 ? 0 : shifted(from.getInt(4 * i), by));
      }
      case VPSLLQ -> {
        ByteBuffer from = bytes(operand(1), size);
        int by = number(2);
        doubles(size, i -> by > 63 ? 0 : from.getLong(8 * i) << by);
      }
      case VMOVMSKPS, VMOVMSKPD -> {
        int bytes = op == VectorOp.VMOVMSKPS ? Float.BYTES : Double.BYTES;
        ByteBuffer from = bytes(operand(1), operand(1).bits() / 8);
        int mask = 0;
        for (int i = 0; i < from.capacity() / bytes; i++) {
          mask |= from.get(bytes * i + bytes - 1) < 0 ? 1 << i : 0;
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
        doubles(size, i -> from.getLong(8 * (int) (order.getLong(8 * i) & size / 8 - 1)));
      }
      case VPERM2F128, VSHUFF64X2, VUNPCKLPS, VUNPCKHPS, VUNPCKLPD, VUNPCKHPD -> {
        ByteBuffer b = bytes(operand(2), size);
        int number = operands.size() > 3 ? number(3) : 0;
        put(operand(0), Places.of(op, bytes(operand(1), size), b, number, size));
      }
      case VFPCLASSPS -> classify();
      case KORTESTW ->
          interpreter.flags.tested(
              (vectors.get((Mask) operand(0)) | vectors.get((Mask) operand(1))) & 0xffff);
      case VCVTNE2PS2BF16 -> roundedPair(size);
      case VCMPPS, VCMPPD -> compare(size);
      case VBLENDMPS -> {
        ByteBuffer a = bytes(operand(1), size);
        ByteBuffer b = bytes(operand(2), size);
        int mask = instruction.mask() == null ? -1 : vectors.get(instruction.mask());
        floats(size, i -> ((mask >> i & 1) == 1 ? b : a).getInt(4 * i));
      }
      case VBLENDMPD -> {
        ByteBuffer a = bytes(operand(1), size);
        ByteBuffer b = bytes(operand(2), size);
        int mask = instruction.mask() == null ? -1 : vectors.get(instruction.mask());
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

  /** Ints, or floats, become 16 bits each. */
  private void shorts(int size, IntToShort element) {
    ByteBuffer from = bytes(operand(1), size);
    ByteBuffer result = buffer(size / 2);
    for (int i = 0; i < size / 4; i++) {
      result.putShort(2 * i, element.apply(from.getInt(4 * i)));
    }
    put(operand(0), result);
  }

  private int shifted(int pattern, int by) {
    return op == VectorOp.VPSLLD ? pattern << by : pattern >>> by;
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

  /** In each 128 bits the first operand's, then the second's. */
  private void packed(int size) {
    ByteBuffer a = bytes(operand(1), size);
    ByteBuffer b = bytes(operand(2), size);
    ByteBuffer result = buffer(size);
    for (int i = 0; i < size / 2; i++) {
      int within = i & 7;
      int value = (within < 4 ? a : b).getInt((i & -8) * 2 + (within & 3) * 4);
      boolean signed = op == VectorOp.VPACKSSDW;
      int least = signed ? Short.MIN_VALUE : 0;
      result.putShort(2 * i, (short) Math.clamp(value, least, signed ? Short.MAX_VALUE : 0xffff));
    }
    put(operand(0), result);
  }

  /** Packs numbers of 16 bits to 8. */
  private void packedBytes(int size) {
    ByteBuffer a = bytes(operand(1), size);
    ByteBuffer b = bytes(operand(2), size);
    ByteBuffer result = buffer(size);
    for (int i = 0; i < size; i++) {
      int within = i & 15;
      int value = (within < 8 ? a : b).getShort((i & -16) + (within & 7) * 2);
      boolean signed = op == VectorOp.VPACKSSWB;
      int least = signed ? Byte.MIN_VALUE : 0;
      result.put(i, (byte) Math.clamp(value, least, signed ? Byte.MAX_VALUE : 0xff));
    }
    put(operand(0), result);
  }

  /** To nearest, ties to even; all that an int cannot hold is the least int. */
  private static int integer(float value) {
    double nearest = Math.rint(value);
    boolean fits = nearest >= Integer.MIN_VALUE && nearest <= Integer.MAX_VALUE;
    return fits ? (int) nearest : Integer.MIN_VALUE;
  }

  private void classify() {
    ByteBuffer from = bytes(operand(1), operand(1).bits() / 8);
    int mask = 0;
    for (int i = 0; i < from.capacity() / 4; i++) {
      mask |= Comparison.isOf(number(2), from.getInt(4 * i)) ? 1 << i : 0;
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

  /** The destination has the second factor (213) or what is added (231). */
  private void fused(int size) {
    boolean multiplies = op == VectorOp.VFMADD213PS || op == VectorOp.VFMADD213PD;
    boolean doubles = op == VectorOp.VFMADD213PD || op == VectorOp.VFMADD231PD;
    ByteBuffer x = bytes(operand(1), size);
    ByteBuffer y = bytes(operand(multiplies ? 0 : 2), size);
    ByteBuffer z = bytes(operand(multiplies ? 2 : 0), size);
    if (doubles) {
      doubles(size, i -> Arithmetic.fused(x.getLong(8 * i), y.getLong(8 * i), z.getLong(8 * i)));
      return;
    }
    int sign = op == VectorOp.VFNMADD231PS ? Integer.MIN_VALUE : 0;
    floats(size, i -> Arithmetic.fused(x.getInt(4 * i), y.getInt(4 * i), z.getInt(4 * i), sign));
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
      boolean holds = Comparison.holds(number(3), x, y);
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
    Arithmetic.Floats floats = Arithmetic.floats(op);
    Arithmetic.Doubles doubles = Arithmetic.doubles(op);
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
}
