package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_short;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.util.Map;

/** Finds the rows of a part: their arrays, and the beginning of each row. */
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

  /** Loads the numbers that are the same for all rows. */
  void load(Map<Tensor, Memory> memory) {
    place
        .part()
        .rows()
        .forEach(
            (rows, type) -> {
              int array = -1;
              code.line("%s, %s in %s memory", rows, type, memory.get(rows));
              if (memory.get(rows) == Memory.HEAP) {
                code.element(place.frame(), "base", CD_Object, rows.place());
                c.checkcast(array(type));
                array = code.store();
              }
              code.element(place.frame(), "offset", CD_long, rows.place());
              int offset = code.storeLong();
              code.element(place.frame(), "stride", CD_long, rows.place());
              int stride = code.storeLong();
              Memory where = memory.get(rows);
              place
                  .pointers()
                  .put(rows, new Place.Pointer(type, where, array, offset, stride, -1, -1));
            });
  }

  /**
   * Finds element {@code first} of a row for each operand.
   *
   * @param first leaves an int on the stack
   */
  void rows(int row, Runnable first) {
    place
        .pointers()
        .replaceAll(
            (rows, pointer) -> {
              code.line("%s: row %s", rows, pointer.heap() ? "as an index" : "as an address");
              c.lload(pointer.offset()).lload(pointer.stride()).iload(row).i2l().lmul().ladd();
              first.run();
              c.i2l().loadConstant((long) pointer.type().bytes()).lmul().ladd();
              int start = finish(pointer);
              return pointer.at(start, start);
            });
  }

  private int finish(Place.Pointer pointer) {
    if (pointer.heap()) {
      c.loadConstant(Integer.numberOfTrailingZeros(pointer.type().bytes())).lshr().l2i();
      return code.storeInt();
    }
    c.loadConstant(Memory.ADDRESSES).land();
    return code.storeLong();
  }

  /** Moves to element i of the row; the locals are new. */
  void elements(int i) {
    place
        .pointers()
        .replaceAll(
            (rows, pointer) -> {
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
}
