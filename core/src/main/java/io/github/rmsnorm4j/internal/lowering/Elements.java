package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.DOUBLES;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.FLOATS;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * A vector of elements of one row, or two: the even ones and the odd ones of bfloat16 pairs. Each
 * value is computed once.
 */
final class Elements {
  private final Code code;
  private final VectorCode vectors;
  private final Codecs codecs;
  private final RowVectors rows;
  private final Place place;
  private final Broadcasts row;

  /** The index of the vector in the step. */
  private final int index;

  private Map<Value, Integer> known = new HashMap<>();

  /** The values that the even elements of pairs will store. */
  private final Map<Stage.Store, Integer> even = new HashMap<>();

  /** Whether the odd elements are being computed. */
  private boolean odd;

  Elements(Code code, VectorCode vectors, Place place, Broadcasts row, int index) {
    this.code = code;
    this.vectors = vectors;
    this.place = place;
    this.row = row;
    this.index = index;
    codecs = new Codecs(code, vectors, place.bits(false));
    rows = new RowVectors(code, vectors, place, index);
  }

  /** Runs for all elements, or for the even ones (0) and then the odd ones (1) of pairs. */
  void forHalves(IntConsumer body) {
    for (int half = 0; half < place.halves(); half++) {
      odd = half == 1;
      known = new HashMap<>();
      body.accept(half);
    }
  }

  /** Takes values that were computed for several rows. */
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
    switch (value.kind()) {
      case ELEMENT -> rows.load(value, odd);
      case COLUMN -> loadColumn(value);
      case ROW -> {
        code.line("load %s", value.text());
        vectors.fromArray(DOUBLES, place.bits(true), () -> address(value.tensor(), 0));
      }
      case WIDENED, ROUNDED, CAST, ONE_NAN, ROOT, POWER -> {
        int of = value(value.a());
        boolean widens = value.kind() == Value.Kind.WIDENED;
        code.line(widens ? "widen %s" : "%s", (widens ? value.a() : value).text());
        code.load(of);
        operate(value);
      }
      case FMA -> {
        int x = value(value.a());
        int y = value(value.b());
        int z = value(value.c());
        code.line("%s", value.text());
        code.load(x);
        vectors.fused(VectorCode.of(value.float64()), place.bits(value.float64()), y, z);
      }
      default -> {
        if (!value.kind().isBinary()) {
          throw new IllegalArgumentException("no vectors of " + value.text());
        }
        int x = value(value.a());
        int y = value(value.b());
        code.line("%s", value.text());
        code.load(x);
        vectors.with(VectorCode.of(value.float64()), name(value.kind()), y);
      }
    }
  }

  /** An operation on the vector on the stack. */
  private void operate(Value value) {
    switch (value.kind()) {
      case WIDENED -> vectors.cast("F2D", DOUBLES, place.bits(true));
      case ROUNDED -> vectors.cast("D2F", FLOATS, place.bits(false));
      case ROOT -> vectors.root();
      case ONE_NAN -> codecs.oneNan();
      case POWER -> vectors.power(value.float64(), place.bits(value.float64()));
      default -> {
        if (value.float64()) {
          throw new IllegalArgumentException("no vectors of " + value.text());
        } else if (value.type() == ElementType.BFLOAT16) {
          codecs.roundToBfloat16();
        } else {
          codecs.roundToFloat16();
        }
      }
    }
  }

  private static String name(Value.Kind operation) {
    return switch (operation) {
      case PLUS -> "ADD";
      case MINUS -> "SUB";
      case TIMES -> "MUL";
      case OVER -> "DIV";
      case MAX -> "MAX";
      case MIN -> "MIN";
      default -> throw new IllegalArgumentException("no operation of two vectors: " + operation);
    };
  }

  private void loadColumn(Value column) {
    code.line("load %s%s", column.text(), rows.half(odd));
    vectors.fromArray(
        VectorCode.of(column.float64()),
        place.bits(column.float64()),
        () -> address(column.tensor(), place.columnOffset(index, odd)));
  }

  /** Leaves the array of columns, or of numbers of rows, and an index on the stack. */
  void address(Tensor tensor, int from) {
    Place.Pointer pointer = place.pointers().get(tensor);
    code.load(pointer.array()).c.iload(pointer.at()).loadConstant(from).iadd();
  }

  /** Computes and stores; pairs are stored after the odd elements are computed. */
  void store(Stage.Store store) {
    int value = value(store.value());
    if (!place.paired()) {
      rows.store(store, value);
    } else if (odd) {
      rows.store(store, even.get(store), value);
    } else {
      even.put(store, value);
    }
  }
}
