package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.DOUBLES;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.FLOATS;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.INTS;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.MASK;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.SHORTS;
import static java.lang.constant.ConstantDescs.CD_float;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Operand;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.RowNumber;
import io.github.rmsnorm4j.internal.formula.Value;
import java.lang.constant.ClassDesc;
import java.util.HashMap;
import java.util.Map;

/**
 * A vector of elements of one row, or two: the even ones and the odd ones of bfloat16 pairs. Each
 * value is computed once.
 */
final class Elements {
  /** Where numbers of columns or rows are. */
  interface Columns {
    /** Leaves the array of columns and an index on the stack, so many from the step's first. */
    void address(Column column, int from);

    /** The same of the rows' numbers, where rows are the elements. */
    default void address(RowNumber number) {
      throw new IllegalArgumentException(number + " is one for the row");
    }
  }

  private final Code code;
  private final VectorCode vectors;
  private final Codecs codecs;
  private final Place place;
  private final Broadcasts row;
  private final Columns columns;

  /** Which vector of the step it is. */
  private final int index;

  private final Map<Operand, Integer> pairs = new HashMap<>();
  private Map<Value, Integer> known = new HashMap<>();

  /** Whether the odd ones are being computed. */
  private boolean odd;

  Elements(Code code, VectorCode vectors, Place place, Broadcasts row, Columns columns, int index) {
    this.code = code;
    this.vectors = vectors;
    this.place = place;
    this.row = row;
    this.columns = columns;
    this.index = index;
    codecs = new Codecs(code, vectors);
  }

  private int floatBits() {
    return place.elements() * Float.SIZE;
  }

  private int doubleBits() {
    return place.elements() * Double.SIZE;
  }

  /** Goes over to the odd elements. */
  void beginOdd() {
    odd = true;
    known = new HashMap<>();
  }

  /** Takes values that have been computed for several rows. */
  void share(Map<Value, Integer> values) {
    known.putAll(values);
  }

  /** The local that holds a value. */
  int value(Value value) {
    Integer local = row.get(value);
    local = local == null ? known.get(value) : local;
    if (local == null) {
      compute(value);
      local = code.store();
      known.put(value, local);
    }
    return local;
  }

  private void compute(Value value) {
    switch (value) {
      case Value.Element e -> load(e);
      case Value.OfColumn c -> loadColumn(c);
      case Value.OfRow r -> {
        code.line("load %s", r.text());
        vectors.fromArray(DOUBLES, doubleBits(), () -> columns.address(r.number()));
      }
      case Value.Widened w -> {
        int of = value(w.of());
        code.line("widen %s", w.of().text());
        code.load(of);
        vectors.cast(DOUBLES, doubleBits());
      }
      case Value.Rounded r -> {
        int of = value(r.of());
        code.line("%s", r.text());
        code.load(of);
        vectors.cast(FLOATS, floatBits());
      }
      case Value.Cast c when !c.float64() -> {
        int of = value(c.of());
        code.line("%s", c.text());
        code.load(of);
        if (c.to() == ElementType.BFLOAT16) {
          codecs.roundToBfloat16();
        } else {
          codecs.roundToFloat16();
        }
      }
      case Value.Binary b -> {
        int x = value(b.a());
        int y = value(b.b());
        code.line("%s", b.text());
        code.load(x);
        vectors.with(b.float64() ? DOUBLES : FLOATS, method(b.operator()), y);
      }
      case Value.OneNan n -> {
        int of = value(n.of());
        code.line("%s", n.text());
        code.load(of).c.loadConstant(Float.NaN);
        code.load(of);
        vectors.differs(of).call(FLOATS, "blend", FLOATS, CD_float, MASK);
      }
      case Value.Root r -> {
        int of = value(r.of());
        code.line("%s", r.text());
        code.load(of);
        vectors.call(DOUBLES, "sqrt", DOUBLES);
      }
      default -> throw new IllegalArgumentException("no vectors of " + value.text());
    }
  }

  private static String method(Value.Operator operator) {
    return switch (operator) {
      case PLUS -> "add";
      case MINUS -> "sub";
      case TIMES -> "mul";
      case OVER -> "div";
      case MAX -> "max";
    };
  }

  private void loadColumn(Value.OfColumn c) {
    code.line("load %s%s", c.text(), half());
    ClassDesc type = c.float64() ? DOUBLES : FLOATS;
    int bits = c.float64() ? doubleBits() : floatBits();
    vectors.fromArray(
        type, bits, () -> columns.address(c.column(), place.columnOffset(index, odd)));
  }

  private String half() {
    return !place.paired() ? "" : odd ? ", odd ones" : ", even ones";
  }

  private void load(Value.Element e) {
    Place.Pointer pointer = place.pointers().get(e.rows());
    if (place.paired()) {
      int both = pairs.computeIfAbsent(e.rows(), rows -> loadPairs(e, pointer));
      code.line("%s%s", e.text(), half());
      code.load(both);
      if (odd) {
        codecs.decodeUpper();
      } else {
        codecs.decodeLower();
      }
      return;
    }
    code.line("load %s + %d, %s", e.text(), index * place.step(), e.type());
    switch (e.type()) {
      case FLOAT64 -> read(DOUBLES, doubleBits(), pointer);
      case FLOAT32 -> read(FLOATS, floatBits(), pointer);
      case BFLOAT16 -> {
        read(SHORTS, place.elements() * Short.SIZE, pointer);
        vectors.cast(INTS, floatBits());
        codecs.decodeLower();
      }
      case FLOAT16 -> throw new IllegalArgumentException("no vectors of float16");
    }
  }

  private int loadPairs(Value.Element e, Place.Pointer pointer) {
    code.line("load %s + %d, %s in pairs", e.text(), index * place.step(), e.type());
    read(SHORTS, floatBits(), pointer);
    vectors.call(SHORTS, "reinterpretAsInts", INTS);
    return code.store();
  }

  private void read(ClassDesc type, int bits, Place.Pointer pointer) {
    if (pointer.heap()) {
      vectors.fromArray(type, bits, () -> address(pointer));
    } else {
      vectors.fromMemory(type, bits, () -> address(pointer));
    }
  }

  private void write(ClassDesc type, Place.Pointer pointer) {
    if (pointer.heap()) {
      vectors.intoArray(type, () -> address(pointer));
    } else {
      vectors.intoMemory(type, () -> address(pointer));
    }
  }

  private void address(Place.Pointer pointer) {
    int elements = index * place.step();
    if (pointer.heap()) {
      code.load(pointer.array()).c.iload(pointer.at()).loadConstant(elements).iadd();
    } else {
      long bytes = (long) elements * pointer.type().bytes();
      code.c.lload(pointer.at()).loadConstant(bytes).ladd();
    }
  }

  private void store(Part.Store store, int local) {
    Place.Pointer pointer = place.pointers().get(store.rows());
    code.line("store %s[i] + %d, %s", store.rows(), index * place.step(), store.type());
    code.load(local);
    switch (store.type()) {
      case FLOAT64 -> write(DOUBLES, pointer);
      case FLOAT32 -> write(FLOATS, pointer);
      case BFLOAT16 -> {
        codecs.encodeLower();
        vectors.cast(SHORTS, place.elements() * Short.SIZE);
        write(SHORTS, pointer);
      }
      case FLOAT16 -> throw new IllegalArgumentException("no vectors of float16");
    }
  }

  /**
   * Computes and stores; of pairs when the odd ones are there.
   *
   * @param even what was computed for the even ones
   */
  void store(Part.Store store, Map<Part.Store, Integer> even) {
    int value = value(store.value());
    if (!place.paired()) {
      store(store, value);
    } else if (odd) {
      store(store, even.get(store), value);
    } else {
      even.put(store, value);
    }
  }

  private void store(Part.Store store, int even, int odd) {
    code.line("store %s[i] + %d, %s in pairs", store.rows(), index * place.step(), store.type());
    code.load(even);
    codecs.encodeLower();
    int lower = code.store();
    code.load(odd);
    codecs.encodeUpper();
    vectors.ints("OR", lower, true).call(INTS, "reinterpretAsShorts", SHORTS);
    write(SHORTS, place.pointers().get(store.rows()));
  }
}
