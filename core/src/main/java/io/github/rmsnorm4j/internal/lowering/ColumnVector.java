package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.lang.constant.ClassDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A vector of columns, or a pair, whose numbers stay in registers in the loop over rows. */
final class ColumnVector {
  private final Code code;
  private final VectorCode vectors;
  private final Place place;
  private final int index;

  /** Values of columns and sums over rows, for even and for odd columns. */
  private final List<Map<Value, Integer>> values = new ArrayList<>();

  private final List<Map<Tensor, Integer>> sums = new ArrayList<>();

  ColumnVector(Code code, VectorCode vectors, Place place, int index) {
    this.code = code;
    this.vectors = vectors;
    this.place = place;
    this.index = index;
  }

  private Elements elements(Place ofRow, Broadcasts broadcasts) {
    return new Elements(code, vectors, ofRow, broadcasts, index);
  }

  void open() {
    Elements elements = elements(place, new Broadcasts(code, vectors, place.elements()));
    elements.forHalves(
        half -> {
          Map<Value, Integer> ofColumns = new HashMap<>();
          Map<Tensor, Integer> ofSums = new HashMap<>();
          for (Value value : place.stage().values()) {
            if (value.kind() == Value.Kind.COLUMN) {
              ofColumns.put(value, elements.value(value));
            }
          }
          for (Stage.ColumnSum sum : place.stage().columnSums()) {
            boolean float64 = sum.value().float64();
            ofSums.put(sum.column(), elements.value(Value.column(sum.column(), float64)));
          }
          values.add(ofColumns);
          sums.add(ofSums);
        });
  }

  void row(Place ofRow, Broadcasts broadcasts) {
    Elements elements = elements(ofRow, broadcasts);
    elements.forHalves(
        half -> {
          elements.share(values.get(half));
          for (Stage.Statement statement : place.stage().statements()) {
            switch (statement) {
              case Stage.Store s -> elements.store(s);
              case Stage.ColumnSum s -> add(s, sums.get(half).get(s.column()), elements);
              default -> throw new IllegalArgumentException(statement + " among columns");
            }
          }
        });
  }

  private void add(Stage.ColumnSum s, int sum, Elements elements) {
    int term = elements.value(s.value());
    code.line("%s[i] += %s", s.column(), s.value().text());
    boolean float64 = s.value().float64();
    ClassDesc type = VectorCode.of(float64);
    code.load(sum);
    vectors.exact(type, place.bits(float64)).with(type, "ADD", term);
    code.c.astore(sum);
  }

  void close() {
    Elements elements = elements(place, new Broadcasts(code, vectors, place.elements()));
    for (int half = 0; half < place.halves(); half++) {
      int from = place.columnOffset(index, half == 1);
      for (Stage.ColumnSum sum : place.stage().columnSums()) {
        code.line("store %s", sum.column());
        code.load(sums.get(half).get(sum.column()));
        vectors.intoArray(
            VectorCode.of(sum.value().float64()), () -> elements.address(sum.column(), from));
      }
    }
  }
}
