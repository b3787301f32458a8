package io.github.rmsnorm4j.internal.quantized;

import static io.github.rmsnorm4j.internal.machine.GeneralOp.ADD;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.CMP;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.JAE;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.JB;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.JNE;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.MOV;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.POP;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.PUSH;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.RET;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.STMXCSR;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.SUB;
import static io.github.rmsnorm4j.internal.machine.GeneralOp.VZEROUPPER;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.R10;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.R11;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.R8;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.R9;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RAX;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RCX;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RDI;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RDX;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RSI;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RSP;

import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.Code;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import io.github.rmsnorm4j.internal.machine.MachineOperand;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Constant;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;

/**
 * Emits a function that writes blocks of int8 codes with ties to even, with vectors of 256 bits:
 *
 * <pre>long blocks(long blocks, long groups, float* y, float* factors, float* scales, byte* codes)
 * </pre>
 *
 * <p>A block has groups of 32 elements. The function writes the scale and the factor of each block,
 * and up to eight floats after them. It returns 1; or 0, and writes no code, if a block has a NaN,
 * an infinity, or an infinite factor.
 */
final class BlockCode {
  private static final int BITS = 256;
  private static final int GROUP = 32;
  private static final int VECTOR = BITS / Byte.SIZE;
  private static final int INFINITY = 0x7f800000;

  /** The caller's state of the floating-point unit, and the contract's. */
  private static final Address CALLERS = Address.at(RSP, 0);

  private static final Address CONTRACT = Address.at(RSP, Integer.BYTES);

  /** Four vectors with the codes of 32 elements in 128 bits of each come in this order. */
  private static final int[] ORDER = {0, 4, 1, 5, 2, 6, 3, 7};

  private final Assembler a = new Assembler();
  private final CodeLayout layout;
  private final boolean inverse;

  private BlockCode(CodeLayout layout, boolean inverse) {
    this.layout = layout;
    this.inverse = inverse;
  }

  /**
   * The function.
   *
   * @param layout {@link CodeLayout#Q8_0} or {@link CodeLayout#APART}
   * @param inverse whether the factor is 1 / d, and not 127 / a
   */
  static Code of(CodeLayout layout, boolean inverse) {
    BlockCode code = new BlockCode(layout, inverse);
    code.begin();
    code.scales();
    code.codes();
    return code.a.code();
  }

  private static Vector v(int n) {
    return new Vector(n, BITS);
  }

  private static Vector low(int n) {
    return new Vector(n, 128);
  }

  private Constant floats(float value) {
    long pattern = Float.floatToRawIntBits(value);
    return a.constant(pattern << Integer.SIZE | pattern);
  }

  private Label begin(String name) {
    Label label = a.label(name);
    a.bind(label);
    return label;
  }

  /** The caller may have left another state of the floating-point unit. */
  private void begin() {
    a.op(PUSH, RAX);
    a.op(STMXCSR, CALLERS);
    a.op(MOV, RAX.of(32), new Immediate(FloatingPointState.CONTRACT));
    a.op(MOV, CONTRACT, RAX.of(32));
    FloatingPointState.emitLoad(a, "as_contract", CALLERS, CONTRACT, RAX.of(32));
  }

  private void scales() {
    a.comment("# the largest magnitude of each block, its scale and factor");
    long magnitude = 0x7fffffff_7fffffffL;
    a.op(VectorOp.VMOVUPS, v(15), a.constant(magnitude));
    a.op(VectorOp.VMOVUPS, v(14), swap(4));
    a.op(VectorOp.VMOVUPS, v(13), swap(2));
    a.op(VectorOp.VMOVUPS, v(12), swap(1));
    a.op(VectorOp.VMOVUPS, v(11), floats(127));
    a.op(VectorOp.VMOVUPS, v(10), floats(1));
    a.op(VectorOp.VXORPS, v(9), v(9), v(9));
    a.op(MOV, R11, RDX);
    a.op(MOV, R10.of(32), new Immediate(0));
    Label block = begin("largest");
    a.op(VectorOp.VXORPS, v(0), v(0), v(0));
    a.op(MOV, RAX, RSI);
    Label group = begin("group");
    for (int i = 0; i < 4; i++) {
      a.op(VectorOp.VANDPS, v(i + 1), v(15), Address.at(R11, i * VECTOR));
    }
    max(1, 2);
    max(3, 4);
    max(1, 3);
    max(0, 1);
    a.op(ADD, R11, new Immediate(GROUP * Float.BYTES));
    a.op(SUB, RAX, new Immediate(1));
    a.op(JNE, group);
    spread(0);
    a.op(VectorOp.VMOVSD_TO, at(RCX, R10), low(0));
    a.op(ADD, R10, new Immediate(1));
    a.op(CMP, R10, RDI);
    a.op(JB, block);
    a.comment("# scales and factors of eight blocks; after the last one the magnitude is 1");
    a.op(VectorOp.VMOVUPS_TO, at(RCX, RDI), v(10));
    a.op(MOV, R10.of(32), new Immediate(0));
    Label eight = begin("eight");
    a.op(VectorOp.VMOVUPS, v(0), at(RCX, R10));
    a.op(VectorOp.VDIVPS, v(1), v(0), v(11));
    a.op(VectorOp.VDIVPS, v(2), v(inverse ? 10 : 11), v(inverse ? 1 : 0));
    max(9, 0);
    max(9, 2);
    a.op(VectorOp.VMOVUPS_TO, at(R8, R10), v(1));
    a.op(VectorOp.VMOVUPS_TO, at(RCX, R10), v(2));
    a.op(ADD, R10, new Immediate(VECTOR / Float.BYTES));
    a.op(CMP, R10, RDI);
    a.op(JB, eight);
    spread(9);
  }

  /** The largest element becomes all elements. */
  private void spread(int vector) {
    for (int order = 14; order >= 12; order--) {
      a.op(VectorOp.VPERMD, v(1), v(order), v(vector));
      max(vector, 1);
    }
  }

  private void max(int to, int other) {
    a.op(VectorOp.VPMAXSD, v(to), v(to), v(other));
  }

  /** Elements that are so far apart change places. */
  private Constant swap(int apart) {
    int[] places = new int[VECTOR / Integer.BYTES];
    for (int i = 0; i < places.length; i++) {
      places[i] = i ^ apart;
    }
    return a.places(places);
  }

  private static Address at(MachineOperand.General base, MachineOperand.General index) {
    return new Address(base, index, Float.BYTES, 0);
  }

  private void codes() {
    Label leave = a.label("leave");
    a.op(VectorOp.VMOVSD_TO, at(RCX, RDI), low(9));
    a.op(MOV, R11.of(32), at(RCX, RDI));
    a.op(MOV, RAX.of(32), new Immediate(0));
    a.op(CMP, R11.of(32), new Immediate(INFINITY));
    a.op(JAE, leave);
    a.comment("# the codes");
    a.op(VectorOp.VMOVUPS, v(14), a.places(ORDER));
    a.op(MOV, R10.of(32), new Immediate(0));
    Label block = begin("codes");
    a.op(VectorOp.VBROADCASTSS, v(5), at(RCX, R10));
    if (layout == CodeLayout.Q8_0) {
      // Six bytes too many, where the codes follow.
      a.op(VectorOp.VBROADCASTSS, low(6), at(R8, R10));
      a.op(VectorOp.VCVTPS2PH_TO, Address.at(R9, 0), low(6), new Immediate(0));
    }
    a.op(MOV, RAX, RSI);
    Label group = begin("code_group");
    for (int i = 0; i < 4; i++) {
      a.op(VectorOp.VMULPS, v(i), v(5), Address.at(RDX, i * VECTOR));
      a.op(VectorOp.VCVTPS2DQ, v(i), v(i));
    }
    a.op(VectorOp.VPACKSSDW, v(0), v(0), v(1));
    a.op(VectorOp.VPACKSSDW, v(2), v(2), v(3));
    a.op(VectorOp.VPACKSSWB, v(0), v(0), v(2));
    a.op(VectorOp.VPERMD, v(0), v(14), v(0));
    a.op(VectorOp.VMOVUPS_TO, Address.at(R9, layout.before()), v(0));
    a.op(ADD, RDX, new Immediate(GROUP * Float.BYTES));
    a.op(ADD, R9, new Immediate(GROUP + layout.more));
    a.op(SUB, RAX, new Immediate(1));
    a.op(JNE, group);
    a.op(ADD, R10, new Immediate(1));
    a.op(CMP, R10, RDI);
    a.op(JB, block);
    a.op(MOV, RAX.of(32), new Immediate(1));
    a.bind(leave);
    FloatingPointState.emitLoad(a, "as_caller", CALLERS, CALLERS, R11.of(32));
    a.op(POP, R11);
    a.op(VZEROUPPER);
    a.op(RET);
  }
}
