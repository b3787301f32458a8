package io.github.rmsnorm4j.internal.lowering;

import static io.github.rmsnorm4j.internal.lowering.VectorCode.DOUBLES;
import static io.github.rmsnorm4j.internal.lowering.VectorCode.FLOATS;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Column;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.RowNumber;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * A vector of elements of one row, or two: the even ones and the odd ones of bfloat16 pairs. Each
 * value is computed once.
 */
final class Elements {
  /** The place of per-column or per-row scalars. */
  interface Columns {
    /** Leaves the array of a column and an index on the stack, counted from the step's first. */
    void address(Column column, int from);

    /** Leaves the array of a per-row scalar and an index on the stack, if rows are the elements. */
    default void address(RowNumber number) {
      throw new IllegalArgumentException(number + " is one for the row");
    }
  }

  private final Code code;
  private final VectorCode vectors;
  private final Codecs codecs;
  private final RowVectors rows;
  private final Place place;
  private final Broadcasts row;
  private final Columns columns;

  /** The index of the vector in the step. */
  private final int index;

  private Map<Value, Integer> known = new HashMap<>();

  /** The values that the even elements of pairs will store. */
  private final Map<Part.Store, Integer> even = new HashMap<>();

  /** Whether the odd elements are being computed. */
  private boolean odd;

  Elements(Code code, VectorCode vectors, Place place, Broadcasts row, Columns columns, int index) {
    this.code = code;
    this.vectors = vectors;
    this.place = place;
    this.row = row;
    this.columns = columns;
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
    switch (value) {
      case Value.Element e -> rows.load(e, odd);
      case Value.OfColumn c -> loadColumn(c);
      case Value.OfRow r -> {
        code.line("load %s", r.text());
        vectors.fromArray(DOUBLES, place.bits(true), () -> columns.address(r.number()));
      }
      case Value.Widened w -> {
        int of = value(w.of());
        code.line("widen %s", w.of().text());
        code.load(of);
        vectors.cast("F2D", DOUBLES, place.bits(true));
      }
      case Value.Rounded r -> {
        int of = value(r.of());
        code.line("%s", r.text());
        code.load(of);
        vectors.cast("D2F", FLOATS, place.bits(false));
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
        vectors.with(VectorCode.of(b.float64()), name(b.operator()), y);
      }
      case Value.OneNan n -> {
        int of = value(n.of());
        code.line("%s", n.text());
        code.load(of);
        codecs.oneNan();
      }
      case Value.Root r -> {
        int of = value(r.of());
        code.line("%s", r.text());
        code.load(of);
        vectors.root();
      }
      default -> throw new IllegalArgumentException("no vectors of " + value.text());
    }
  }

  private static String name(Value.Operator operator) {
    return switch (operator) {
      case PLUS -> "ADD";
      case MINUS -> "SUB";
      case TIMES -> "MUL";
      case OVER -> "DIV";
      case MAX -> "MAX";
    };
  }

  private void loadColumn(Value.OfColumn c) {
    code.line("load %s%s", c.text(), rows.half(odd));
    vectors.fromArray(
        VectorCode.of(c.float64()),
        place.bits(c.float64()),
        () -> columns.address(c.column(), place.columnOffset(index, odd)));
  }

  /** Computes and stores; pairs are stored after the odd elements are computed. */
  void store(Part.Store store) {
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
