package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Memory;

/** One element of a row, read and written without vectors, in the type of the rows. */
final class ScalarMemory {
  private final Code code;
  private final int frame;
  private final int row;

  /** A local with the index of the element, -1 for the first element. */
  private final int element;

  ScalarMemory(Code code, int frame, int row, int element) {
    this.code = code;
    this.frame = frame;
    this.row = row;
    this.element = element;
  }

  /** Leaves the element on the stack. */
  void load(Value e) {
    if (e.float64()) {
      address(e.tensor(), e.type());
      code.call(Memory.class, "getDouble", CD_double, CD_Object, CD_long);
    } else {
      code.type(e.type());
      address(e.tensor(), e.type());
      code.call(Memory.class, "getFloat", CD_float, Code.TYPE, CD_Object, CD_long);
    }
  }

  /**
   * Writes the element.
   *
   * @param value leaves it on the stack
   */
  void store(Tensor rows, ElementType type, Runnable value) {
    if (type == ElementType.FLOAT64) {
      address(rows, type);
      value.run();
      code.call(Memory.class, "setDouble", CD_void, CD_Object, CD_long, CD_double);
    } else {
      code.type(type);
      address(rows, type);
      value.run();
      code.call(Memory.class, "setFloat", CD_void, Code.TYPE, CD_Object, CD_long, CD_float);
    }
  }

  /** Leaves the base, and the offset of the element. */
  private void address(Tensor rows, ElementType type) {
    code.element(frame, "base", CD_Object, rows.slot());
    code.element(frame, "offset", CD_long, rows.slot());
    code.element(frame, "stride", CD_long, rows.slot()).c.iload(row).i2l().lmul().ladd();
    if (element >= 0) {
      code.c.iload(element).i2l().loadConstant((long) type.bytes()).lmul().ladd();
    }
  }
}
