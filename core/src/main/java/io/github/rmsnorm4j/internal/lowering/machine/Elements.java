package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.GeneralOp;
import io.github.rmsnorm4j.internal.machine.MachineOperand;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Immediate;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;
import java.util.Map;

/**
 * A vector of elements: where they are in memory.
 *
 * @param ofRow vectors of the values that are one for the row: registers or memory
 * @param first the vector's first element; of every second one, the first of them all
 * @param half whether it has every element, or every second one
 */
record Elements(
    Assembler a,
    Pointers pointers,
    Map<Value, MachineOperand> ofRow,
    int first,
    Half half,
    Where where)
    implements Values.Leaves {
  private static final long UPPER_HALVES = 0xffff0000_ffff0000L;

  /** Bytes from what is summed to what is prefetched: in this row, or after it. */
  static final int AHEAD = 1 << 12;

  /** Bytes of a line of a cache. */
  private static final int LINE = 64;

  /** Which elements a vector has. */
  enum Half {
    ALL,
    EVEN,
    ODD
  }

  /** What elements are counted from. */
  enum Where {
    /** The element that the loop is at. */
    LOOP,
    /** The element that the loop is at where the output is not aligned: a row's first or last. */
    EDGE,
    /** The start of the row, which has no loop. */
    ROW,
    /** The copy of the row's end. */
    END
  }

  @Override
  public boolean has(Value value) {
    return isInMemory(value) || value.kind() == Value.Kind.LITERAL || ofRow.containsKey(value);
  }

  private static boolean isInMemory(Value value) {
    return value.kind() == Value.Kind.ELEMENT || value.kind() == Value.Kind.COLUMN;
  }

  @Override
  public MachineOperand inPlace(Value value) {
    if (!isInMemory(value)) {
      MachineOperand place = ofRow.get(value);
      return place == null ? Values.constant(a, value) : place;
    }
    boolean inRegister = where == Where.END || pointers.stays(value.tensor());
    return inRegister && value.type().bytes() > Short.BYTES
        ? address(value.tensor(), value.type())
        : null;
  }

  @Override
  public void load(Value value, Vector into) {
    Address from = address(value.tensor(), value.type());
    switch (value.type()) {
      case FLOAT16 -> a.op(VectorOp.VCVTPH2PS, into, from);
      case BFLOAT16 -> bfloat16(from, into);
      case FLOAT32, FLOAT64 -> a.op(VectorOp.VMOVUPS, into, from);
    }
  }

  private void bfloat16(Address from, Vector into) {
    if (half == Half.ALL) {
      a.op(VectorOp.VPMOVZXWD, into, from);
    } else {
      a.op(VectorOp.VMOVUPS, into, from);
    }
    if (half == Half.ODD) {
      a.op(VectorOp.VANDPS, into, into, a.constant(UPPER_HALVES));
    } else {
      a.op(VectorOp.VPSLLD, into, into, new Immediate(16));
    }
  }

  /** Prefetches 32 elements, so many bytes behind these. */
  void prefetch(Tensor tensor, ElementType type, int behind) {
    Address next = address(tensor, type).plus(behind);
    for (int at = 0; at < SumOrder.LANES * type.bytes(); at += LINE) {
      a.op(GeneralOp.PREFETCHT0, next.plus(at));
    }
  }

  /** Where the vector is: until the next address is asked for, see {@link Pointers#of}. */
  Address address(Tensor tensor, ElementType type) {
    int from = first * type.bytes();
    return switch (where) {
      case LOOP, EDGE -> new Address(pointers.of(tensor), Pointers.I, type.bytes(), from);
      case ROW -> Address.at(pointers.of(tensor), from);
      case END -> Address.at(Pointers.AREA, Area.end(tensor) + from);
    };
  }
}
