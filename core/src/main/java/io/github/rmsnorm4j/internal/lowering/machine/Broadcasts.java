package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.machine.Assembler;
import io.github.rmsnorm4j.internal.machine.MachineOperand;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Address;
import io.github.rmsnorm4j.internal.machine.MachineOperand.Vector;
import io.github.rmsnorm4j.internal.machine.VectorOp;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The values of a stage that are one for a row, each in all elements of a vector. */
final class Broadcasts {
  private final Assembler a;
  private final Registers registers;
  private final Target target;
  private final Stage stage;
  private final List<Value> ofRow;
  private final Map<Value, MachineOperand> places = new HashMap<>();

  /** See {@link #others}; 0 until it is known. */
  private int others;

  /** Where values are of the first of several rows; empty where each row computes its own. */
  private final Map<Value, Address> table = new HashMap<>();

  Broadcasts(Assembler a, Registers registers, Target target, Stage stage) {
    this.a = a;
    this.registers = registers;
    this.target = target;
    this.stage = stage;
    ofRow = List.copyOf(stage.rowValues());
    if (ofRow.size() > Frame.MAX_TABLES) {
      throw new IllegalArgumentException(ofRow.size() + " per-row scalars in one stage");
    }
  }

  /** Registers that the loops over elements need beside those of broadcasts. */
  int others() {
    if (others == 0) {
      others = ElementStage.registers(target, stage);
    }
    return others;
  }

  /** Gives all of them places in memory. */
  void leaveInMemory() {
    for (Value value : ofRow) {
      places.put(value, Address.at(Pointers.AREA, Area.broadcast(places.size())));
    }
  }

  /**
   * Computes the values of several rows at once, and keeps them in memory; not where a stage keeps
   * per-row scalars itself.
   */
  void tabulate(int rows) {
    for (Stage.Statement statement : stage.statements()) {
      if (statement instanceof Stage.Keep) {
        return;
      }
    }
    RowValues numbers = new RowValues(a, null, rows, 0, target.width());
    Values values = new Values(a, registers, numbers, rows, ofRow);
    for (Value value : ofRow) {
      a.comment("%s of %d rows", new Text(value), rows);
      Address memory = Address.at(Pointers.AREA, Area.broadcast(table.size()));
      a.op(VectorOp.VMOVUPS_TO, memory, values.get(value));
      values.done(value);
      table.put(value, memory);
    }
  }

  /** Makes those of a row, which has these numbers. */
  void make(RowValues numbers) {
    if (!table.isEmpty()) {
      for (Map.Entry<Value, Address> entry : table.entrySet()) {
        load(entry.getKey(), entry.getValue(), numbers.ahead());
      }
      return;
    }
    Values values = new Values(a, registers, numbers, numbers.elements(), ofRow);
    for (Value value : ofRow) {
      a.comment("%s, in all elements", new Text(value));
      Vector one = values.get(value);
      Vector all = registers.take(bits(value));
      if (all.bits() > 128 || !value.float64()) {
        a.op(broadcast(value), all, one.of(128));
      } else {
        a.op(VectorOp.VMOVUPS, all, one);
      }
      values.done(value);
      keep(value, all);
    }
  }

  private void load(Value value, Address first, int ahead) {
    Vector all = registers.take(bits(value));
    a.op(broadcast(value), all, first.plus(ahead * (value.float64() ? Double.BYTES : Float.BYTES)));
    keep(value, all);
  }

  private static VectorOp broadcast(Value value) {
    return value.float64() ? VectorOp.VBROADCASTSD : VectorOp.VBROADCASTSS;
  }

  /** In its register if enough others are left, otherwise in memory. */
  private void keep(Value value, Vector all) {
    if (registers.free() >= others()) {
      places.put(value, all);
      return;
    }
    Address memory = Address.at(Pointers.AREA, Area.broadcast(table.size() + places.size()));
    a.op(VectorOp.VMOVUPS_TO, memory, all);
    registers.giveBack(all);
    places.put(value, memory);
  }

  /** Loads constants, as far as registers are left. The others are read where they are used. */
  void load(Set<Value> literals) {
    for (Value literal : literals) {
      if (registers.free() > others()) {
        Vector register = registers.takeLast(bits(literal));
        a.op(VectorOp.VMOVUPS, register, Values.constant(a, literal));
        places.put(literal, register);
      }
    }
  }

  private int bits(Value value) {
    return target.elements(stage) * (value.float64() ? Double.SIZE : Float.SIZE);
  }

  /** Where they are, in registers or in memory. */
  Map<Value, MachineOperand> places() {
    return places;
  }

  /** Gives the registers back. */
  void end() {
    for (MachineOperand place : places.values()) {
      if (place instanceof Vector register) {
        registers.giveBack(register);
      }
    }
    places.clear();
  }
}
