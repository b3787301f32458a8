package io.github.rmsnorm4j.internal.quantized;

import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.R10;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.R11;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.R12;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.R13;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.R8;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.R9;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RAX;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RBX;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RCX;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RDI;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RDX;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RSI;
import static io.github.rmsnorm4j.internal.machine.MachineOperand.General.RSP;

import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.Code;
import io.github.rmsnorm4j.internal.machine.FloatingPointState;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.General;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Label;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;

/**
 * Emits a function that writes the codes and scales of blocks:
 *
 * <pre>void blocks(long blocks, long groups, float* y, byte* codes, float* scales, long offset)
 * </pre>
 *
 * <p>A block has groups of 32 elements. Codes begin at an offset in bytes. The function finds the
 * largest magnitudes of as many blocks as a vector has elements, and all their scales in one
 * vector. It writes as many scales at a time, so there must be room for more after the last one.
 * After the scales of up to eight vectors of blocks it writes the codes of these blocks, so that
 * the processor need not wait for each vector of scales. The function may change elements of y.
 */
final class BlockCode {
  static final int GROUP = 32;

  /** Vectors of elements whose codes are one vector. */
  private static final int TOGETHER = 4;

  private static final General BLOCKS = R9;
  private static final General GROUPS = RSI;
  private static final General Y = RDX;
  private static final General CODES = RCX;
  private static final General SCALES = R8;

  /** The function's own memory, see {@link VectorScales}. */
  private static final General OWN = R13;

  /** The caller's state of the floating-point unit, and the contract's, in this memory. */
  private static final int STATES = VectorScales.END;

  private static final int BYTES = STATES + VectorScales.SLOT;

  /** Blocks that are done together, where their first element is, and the one that is done. */
  private static final General SOME = R10;

  /** The first one of those whose scales are in one vector. */
  private static final General FIRST = RDI;

  private static final General START = R12;
  private static final General BLOCK = RBX;

  private static final General LEFT = RAX;
  private static final General AT = R11;
  private static final General END = RDI;

  private final Assembler a = new Assembler();
  private final CodeLayout layout;
  private final int bits;

  /** Elements whose codes are one vector. */
  private final int unit;

  /** Blocks of such elements, if there are several; otherwise 1. */
  private final int ofUnit;

  private final VectorScales scales;
  private final VectorCodes codes;

  private BlockCode(CodeFormat format, CodeRule rule, int bits) {
    layout = format.layout();
    this.bits = bits;
    unit = TOGETHER * bits / Float.SIZE;
    ofUnit = Math.max(1, unit / format.block());
    scales = new VectorScales(a, new CodeFormula(format, rule), bits, OWN);
    codes = new VectorCodes(a, format.float8(), bits, TOGETHER / ofUnit);
  }

  /**
   * The function.
   *
   * @param format of {@link CodeLayout#Q8_0} or {@link CodeLayout#APART}. Elements whose codes are
   *     one vector, an eighth of its bits, must be whole blocks: there must be so many of the
   *     format's. If one block is as long, the function serves multiples of it, too
   * @param bits of a vector
   */
  static Code of(CodeFormat format, CodeRule rule, int bits) {
    BlockCode code = new BlockCode(format, rule, bits);
    code.begin();
    code.blocks();
    code.end();
    return code.a.code();
  }

  private Vector v(int n) {
    return new Vector(n, bits);
  }

  private static Address own(int at) {
    return Address.at(OWN, at);
  }

  /** Of the block that is done, or one after it. */
  private static Address own(int at, int bytes, int ahead) {
    return new Address(OWN, BLOCK, bytes, at + ahead * bytes);
  }

  private Label bind(String name) {
    Label label = a.label(name);
    a.bind(label);
    return label;
  }

  private void add(General register, int value) {
    a.op(GeneralOp.ADD, register, new Immediate(value));
  }

  /** Subtracts from a register, and jumps unless it is 0 then. */
  private void loop(General register, int value, Label label) {
    a.op(GeneralOp.SUB, register, new Immediate(value));
    a.op(GeneralOp.JNE, label);
  }

  /** Goes on to other blocks, as long as there are some of those that are done together. */
  private void loopBlocks(int ahead, Label label) {
    add(BLOCK, ahead);
    a.op(GeneralOp.CMP, BLOCK, SOME);
    a.op(GeneralOp.JB, label);
  }

  /** The caller may have left another state of the floating-point unit. */
  private void begin() {
    a.op(GeneralOp.PUSH, RBX);
    a.op(GeneralOp.PUSH, R12);
    a.op(GeneralOp.PUSH, R13);
    a.op(GeneralOp.SUB, RSP, new Immediate(BYTES + VectorScales.SLOT));
    a.op(GeneralOp.LEA, OWN, Address.at(RSP, VectorScales.SLOT - 1));
    a.op(GeneralOp.AND, OWN, new Immediate(-VectorScales.SLOT));
    a.op(GeneralOp.ADD, CODES, R9);
    a.op(GeneralOp.MOV, BLOCKS, RDI);
    a.op(GeneralOp.STMXCSR, own(STATES));
    a.op(GeneralOp.MOV, RAX.of(32), new Immediate(FloatingPointState.CONTRACT));
    a.op(GeneralOp.MOV, own(STATES + Integer.BYTES), RAX.of(32));
    loadState("as_contract", STATES + Integer.BYTES);
    codes.begin();
  }

  private void loadState(String name, int state) {
    FloatingPointState.emitLoad(a, name, own(STATES), own(state), RAX.of(32));
  }

  private void end() {
    loadState("as_caller", STATES);
    a.op(GeneralOp.VZEROUPPER);
    add(RSP, BYTES + VectorScales.SLOT);
    a.op(GeneralOp.POP, R13);
    a.op(GeneralOp.POP, R12);
    a.op(GeneralOp.POP, RBX);
    a.op(GeneralOp.RET);
  }

  private void blocks() {
    Label prepare = a.label("prepare");
    Label prepared = a.label("prepared");
    Label done = a.label("done");
    Label whole = a.label("whole");
    Label some = bind("some");
    a.op(GeneralOp.MOV, SOME.of(32), new Immediate(VectorScales.VECTORS * bits / Float.SIZE));
    a.op(GeneralOp.CMP, BLOCKS, SOME);
    a.op(GeneralOp.JAE, whole);
    a.op(GeneralOp.MOV, SOME, BLOCKS);
    a.bind(whole);
    a.op(GeneralOp.MOV, START, Y);
    scales();
    scales.jumpUnlessPlain(LEFT.of(32), prepare);
    a.bind(prepared);
    a.op(GeneralOp.MOV, Y, START);
    codes();
    a.op(GeneralOp.LEA, SCALES, new Address(SCALES, SOME, Float.BYTES, 0));
    a.op(GeneralOp.SUB, BLOCKS, SOME);
    a.op(GeneralOp.JNE, some);
    a.op(GeneralOp.JMP, done);
    a.bind(prepare);
    prepare();
    a.op(GeneralOp.JMP, prepared);
    a.bind(done);
  }

  private void scales() {
    int lanes = bits / Float.SIZE;
    Label fewer = a.label("fewer");
    scales.begin();
    a.op(GeneralOp.MOV, FIRST.of(32), new Immediate(0));
    Label vector = bind("vector");
    a.op(GeneralOp.MOV, BLOCK, SOME);
    a.op(GeneralOp.SUB, BLOCK, FIRST);
    a.op(GeneralOp.CMP, BLOCK, new Immediate(lanes));
    a.op(GeneralOp.JBE, fewer);
    a.op(GeneralOp.MOV, BLOCK.of(32), new Immediate(lanes));
    a.bind(fewer);
    largest();
    scales.emit(new Address(SCALES, FIRST, Float.BYTES, 0), FIRST, layout == CodeLayout.Q8_0);
    add(FIRST, lanes);
    a.op(GeneralOp.CMP, FIRST, SOME);
    a.op(GeneralOp.JB, vector);
  }

  /** Leaves a vector for each block, whose largest element is the largest magnitude. */
  private void largest() {
    a.comment("# the largest magnitudes of some blocks");
    a.op(GeneralOp.LEA, AT, own(VectorScales.LARGEST));
    Label block = bind("largest");
    a.op(VectorOp.VXORPS, v(0), v(0), v(0));
    a.op(GeneralOp.MOV, LEFT, GROUPS);
    Label group = bind("magnitudes");
    for (int i = 0; i < TOGETHER; i++) {
      a.op(VectorOp.VANDPS, v(1 + i), codes.magnitude(), Address.at(Y, i * bits / Byte.SIZE));
    }
    scales.max(v(1), v(2));
    scales.max(v(3), v(4));
    add(Y, unit * Float.BYTES);
    if (ofUnit == 1) {
      scales.max(v(1), v(3));
      scales.max(v(0), v(1));
      loop(LEFT, unit / GROUP, group);
    }
    for (int i = 0; i < ofUnit; i++) {
      Address slot = Address.at(AT, i * VectorScales.SLOT);
      a.op(VectorOp.VMOVUPS_TO, slot, v(ofUnit == 1 ? 0 : 1 + 2 * i));
    }
    add(AT, ofUnit * VectorScales.SLOT);
    loop(BLOCK, ofUnit, block);
  }

  private void codes() {
    a.comment("# codes");
    a.op(GeneralOp.MOV, BLOCK.of(32), new Immediate(0));
    Label block = bind("block");
    for (int i = 0; i < ofUnit; i++) {
      a.op(VectorOp.VBROADCASTSS, codes.factor(i), own(VectorScales.FACTORS, Float.BYTES, i));
      if (scales.divides()) {
        a.op(VectorOp.VBROADCASTSS, codes.inverse(i), own(VectorScales.INVERSES, Float.BYTES, i));
      }
      if (layout == CodeLayout.Q8_0) {
        a.op(GeneralOp.MOVZX, LEFT.of(32), own(VectorScales.HALVES, Short.BYTES, i));
        a.op(GeneralOp.MOV, Address.at(CODES, i * (GROUP + layout.more)), LEFT.of(16));
      }
    }
    a.op(GeneralOp.MOV, LEFT, GROUPS);
    Label group = bind("codes");
    codes.emit(Y);
    if (layout == CodeLayout.Q8_0 && ofUnit > 1) {
      a.op(VectorOp.VMOVUPS_TO, Address.at(CODES, layout.more), new Vector(0, 256));
      Address next = Address.at(CODES, GROUP + 2 * layout.more);
      a.op(VectorOp.VEXTRACTF64X4_TO, next, v(0), new Immediate(1));
    } else {
      a.op(VectorOp.VMOVUPS_TO, Address.at(CODES, layout.more), v(0));
    }
    add(Y, unit * Float.BYTES);
    add(CODES, unit + ofUnit * layout.more);
    if (ofUnit == 1) {
      loop(LEFT, unit / GROUP, group);
    }
    loopBlocks(ofUnit, block);
  }

  /** Prepares the elements of blocks that are not plain. */
  private void prepare() {
    a.comment("# a block without codes becomes zeros, one with tiny divisor and elements larger");
    a.op(GeneralOp.MOV, AT, START);
    a.op(GeneralOp.MOV, BLOCK.of(32), new Immediate(0));
    Label next = a.label("next");
    Label block = bind("whether_plain");
    a.op(GeneralOp.MOV, END, GROUPS);
    a.op(GeneralOp.SHL, END, new Immediate(Integer.numberOfTrailingZeros(GROUP * Float.BYTES)));
    a.op(GeneralOp.ADD, END, AT);
    a.op(GeneralOp.MOV, LEFT.of(32), own(VectorScales.PLAIN, Integer.BYTES, 0));
    a.op(GeneralOp.CMP, LEFT.of(32), new Immediate(0));
    a.op(GeneralOp.JNE, next);
    a.op(VectorOp.VBROADCASTSS, v(0), own(VectorScales.VALID, Integer.BYTES, 0));
    scales.beginPreparing(own(VectorScales.FACTORS, Float.BYTES, 0));
    Label elements = bind("elements");
    a.op(VectorOp.VANDPS, v(1), v(0), Address.at(AT, 0));
    scales.prepare(v(1));
    a.op(VectorOp.VMOVUPS_TO, Address.at(AT, 0), v(1));
    add(AT, bits / Byte.SIZE);
    a.op(GeneralOp.CMP, AT, END);
    a.op(GeneralOp.JB, elements);
    a.bind(next);
    a.op(GeneralOp.MOV, AT, END);
    loopBlocks(1, block);
  }
}
