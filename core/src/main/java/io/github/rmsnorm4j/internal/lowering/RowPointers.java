package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_short;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Memory;
import io.github.rmsnorm4j.internal.kernel.RowSum;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.util.Map;
import java.util.function.BiFunction;

/** Finds the rows and columns of a stage: their arrays, and the beginning of each row. */
final class RowPointers {
  private final Code code;
  private final CodeBuilder c;
  private final Place place;

  RowPointers(Code code, Place place) {
    this.code = code;
    c = code.c;
    this.place = place;
  }

  private static ClassDesc array(ElementType type) {
    return switch (type) {
      case FLOAT64 -> CD_double.arrayType();
      case FLOAT32 -> CD_float.arrayType();
      case FLOAT16, BFLOAT16 -> CD_short.arrayType();
    };
  }

  /** Loads what is the same for all rows. Columns are in arrays. */
  void load(Map<Tensor, Memory> memory) {
    for (Map.Entry<Tensor, ElementType> entry : place.stage().tensors().entrySet()) {
      Tensor tensor = entry.getKey();
      ElementType type = entry.getValue();
      boolean columns = tensor.access() == Tensor.Access.COLUMN;
      Memory where = columns ? Memory.HEAP : memory.get(tensor);
      code.line("%s, %s in %s memory", tensor, type, where);
      int array = -1;
      if (where == Memory.HEAP) {
        code.element(place.frame(), "base", CD_Object, tensor.slot());
        c.checkcast(array(type));
        array = code.store();
      }
      code.element(place.frame(), "offset", CD_long, tensor.slot());
      int offset = code.storeLong();
      int stride = -1;
      int start = -1;
      if (columns) {
        index(offset, type);
        c.iload(ElementLoop.FROM).iadd();
        start = code.storeInt();
      } else {
        code.element(place.frame(), "stride", CD_long, tensor.slot());
        stride = code.storeLong();
      }
      place
          .pointers()
          .put(tensor, new Place.Pointer(type, where, array, offset, stride, start, start));
    }
  }

  /** Leaves the index of the element at so many bytes, a local. */
  private void index(int bytes, ElementType type) {
    c.lload(bytes).loadConstant(Integer.numberOfTrailingZeros(type.bytes())).lshr().l2i();
  }

  /**
   * Finds element {@code first} of a row for each tensor of elements.
   *
   * @param first leaves an int on the stack
   */
  void rows(int row, Runnable first) {
    replace(
        Tensor.Access.ELEMENT,
        (tensor, pointer) -> {
          code.line("%s: row %s", tensor, pointer.heap() ? "as an index" : "as an address");
          c.lload(pointer.offset()).lload(pointer.stride()).iload(row).i2l().lmul().ladd();
          first.run();
          c.i2l().loadConstant((long) pointer.type().bytes()).lmul().ladd();
          int start = code.storeLong();
          if (pointer.heap()) {
            index(start, pointer.type());
            start = code.storeInt();
          } else {
            c.lload(start).loadConstant(Memory.ADDRESSES).land();
            start = code.storeLong();
          }
          return pointer.at(start, start);
        });
  }

  /** Moves to element i of the row; the locals are new. */
  void elements(int i) {
    replace(
        Tensor.Access.ELEMENT,
        (tensor, pointer) -> {
          int at;
          if (pointer.heap()) {
            c.iload(pointer.start()).iload(i).iadd();
            at = code.storeInt();
          } else {
            long bytes = pointer.type().bytes();
            c.lload(pointer.start()).iload(i).i2l().loadConstant(bytes).lmul().ladd();
            at = code.storeLong();
          }
          return pointer.at(pointer.start(), at);
        });
  }

  /** Moves to the columns from i on; of pairs the even ones of every 32 come first. */
  void columns(int i) {
    replace(
        Tensor.Access.COLUMN,
        (tensor, pointer) -> {
          c.iload(pointer.start()).iload(i).iadd();
          if (place.paired()) {
            code.call(RowSum.class, "evenFirst", CD_int, CD_int);
          }
          return pointer.at(pointer.start(), code.storeInt());
        });
  }

  private void replace(
      Tensor.Access access, BiFunction<Tensor, Place.Pointer, Place.Pointer> pointers) {
    place
        .pointers()
        .replaceAll(
            (tensor, pointer) ->
                tensor.access() == access ? pointers.apply(tensor, pointer) : pointer);
  }
}
