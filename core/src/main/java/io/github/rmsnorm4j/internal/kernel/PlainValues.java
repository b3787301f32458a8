package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.internal.formula.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Values in plain Java, of elements that the caller gives. They are computed one after the other,
 * each for a strip of elements. One thread uses it at a time.
 */
public final class PlainValues {
  /** The most elements at a time. */
  public static final int MOST = Strips.STRIP;

  private final List<Value> values;
  private final int[][] operands;
  private final Strips strips = new Strips();

  /** For some values, and all that they are made of. */
  public PlainValues(List<Value> wanted) {
    Set<Value> all = new LinkedHashSet<>();
    wanted.forEach(value -> add(value, all));
    values = new ArrayList<>(all);
    operands = new int[values.size()][];
    for (int v = 0; v < operands.length; v++) {
      Value value = values.get(v);
      operands[v] = value.operands().stream().mapToInt(values::indexOf).toArray();
      if (value.kind() == Value.Kind.LITERAL && value.float64()) {
        Arrays.fill(strips.doubles(v), value.number());
      } else if (value.kind() == Value.Kind.LITERAL) {
        Arrays.fill(strips.floats(v), (float) value.number());
      }
    }
  }

  private static void add(Value value, Set<Value> into) {
    value.operands().forEach(operand -> add(operand, into));
    into.add(value);
  }

  /** The strip of a float32 value: always the same array. */
  public float[] floats(Value value) {
    return strips.floats(place(value));
  }

  /** The strip of a float64 value. */
  public double[] doubles(Value value) {
    return strips.doubles(place(value));
  }

  private int place(Value value) {
    int place = values.indexOf(value);
    if (place < 0) {
      throw new IllegalArgumentException(value.text() + " is not among " + values);
    }
    return place;
  }

  /** Computes the first n elements of all values from those of the given ones. */
  public void compute(int n) {
    for (int v = 0; v < operands.length; v++) {
      if (operands[v].length > 0) {
        strips.operate(values.get(v), operands[v], v, n);
      }
    }
  }
}
