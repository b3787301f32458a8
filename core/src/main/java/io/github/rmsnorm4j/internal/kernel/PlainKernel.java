package io.github.rmsnorm4j.internal.kernel;

import static io.github.rmsnorm4j.internal.kernel.Strips.STRIP;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A part in plain Java: its values one after the other, each for a strip of elements at once. No
 * class is made for it, so that it serves at once, and everywhere; its few loops are the same for
 * all parts, so that the JIT has them soon.
 *
 * <p>A part without elements, as that from sums to roots, has the rows for its elements.
 */
public final class PlainKernel implements Kernel {
  private final List<Part.Statement> statements;
  private final List<Part.Sum> sums;

  /** Every value once; what a value is made of comes before it. */
  private final Value[] values;

  /** By value: the places of what it is made of. */
  private final int[][] operands;

  /** By value: whether there is one for each element, and not one for the row. */
  private final boolean[] varies;

  /** By statement: the place of its value. */
  private final int[] results;

  private final boolean ofRows;
  private final boolean keeps;

  /** Columns below this lie with the even ones first, in every 32. */
  private final int evenFirst;

  /**
   * Makes a part ready.
   *
   * @param evenFirst columns below this lie with the even ones first, in every 32
   */
  public PlainKernel(Part part, int evenFirst) {
    this.evenFirst = evenFirst;
    statements = part.statements();
    sums = part.sums();
    ofRows =
        part.operands().isEmpty() && statements.stream().noneMatch(s -> s.value().perElement());
    keeps = statements.stream().anyMatch(Part.Keep.class::isInstance);
    Map<Value, Integer> places = new LinkedHashMap<>();
    statements.forEach(statement -> add(statement.value(), places));
    values = places.keySet().toArray(Value[]::new);
    operands = new int[values.length][];
    varies = new boolean[values.length];
    for (int v = 0; v < values.length; v++) {
      varies[v] = ofRows ? values[v] instanceof Value.OfRow : values[v].perElement();
      Value[] of = directParts(values[v]);
      operands[v] = new int[of.length];
      for (int k = 0; k < of.length; k++) {
        operands[v][k] = places.get(of[k]);
        varies[v] |= varies[operands[v][k]];
      }
    }
    results = statements.stream().mapToInt(s -> places.get(s.value())).toArray();
  }

  private static void add(Value value, Map<Value, Integer> places) {
    for (Value part : directParts(value)) {
      add(part, places);
    }
    places.putIfAbsent(value, places.size());
  }

  /** What is below a row's first element is computed for that alone. */
  private static Value[] directParts(Value value) {
    return value instanceof Value.First ? new Value[0] : value.parts();
  }

  @Override
  public void run(Frame frame, int rows, int from, int to) {
    if (ofRows) {
      frame.outOfRange = false;
      compute(frame, 0, 0, rows, false);
      compute(frame, 0, 0, rows, true);
      finish(frame, 0, 0, rows, true);
      return;
    }
    RowSum.zero(frame, sums.size(), rows);
    for (int r = 0; r < rows; r++) {
      row(frame, r, from, to);
    }
    RowSum.trees(frame, sums, rows, false);
  }

  @Override
  public void superBlock(Frame frame, int n) {
    RowSum.zero(frame, sums.size(), 1);
    row(frame, 0, 0, n);
    RowSum.closeSuperBlock(frame, sums.size());
  }

  @Override
  public void close(Frame frame) {
    RowSum.close(frame, sums, false);
  }

  /** Strip by strip; leaves row sums in the lanes. */
  private void row(Frame frame, int row, int from, int to) {
    compute(frame, row, from, Math.min(STRIP, to - from), false);
    if (keeps) {
      finish(frame, row, from, 1, false);
      compute(frame, row, from, Math.min(STRIP, to - from), false);
    }
    for (int i = from; i < to; i += STRIP) {
      int n = Math.min(STRIP, to - i);
      compute(frame, row, i, n, true);
      finish(frame, row, i, n, true);
      if ((i - from + STRIP) % RowSum.BLOCK == 0) {
        RowSum.closeBlock(frame, sums.size(), row);
      }
    }
    RowSum.addTotals(frame, sums.size(), row);
  }

  /** Values of elements, or of the row. */
  private void compute(Frame frame, int row, int i, int n, boolean varying) {
    for (int v = 0; v < values.length; v++) {
      if (varies[v] == varying) {
        compute(frame, v, row, i, n);
      }
    }
  }

  private void compute(Frame frame, int v, int row, int i, int n) {
    Strips strips = frame.strips;
    int[] of = operands[v];
    boolean float64 = values[v].float64();
    switch (values[v]) {
      case Value.Element e -> load(frame, e, v, row, i, n);
      case Value.OfColumn c -> column(frame, c, v, i, n);
      case Value.First f -> fill(strips, v, FirstElement.of(f.of(), frame, row), n);
      case Value.OfRow r -> {
        double[] numbers = frame.of(r.number());
        if (ofRows) {
          System.arraycopy(numbers, 0, strips.doubles(v), 0, n);
        } else {
          fill(strips, v, numbers[row], n);
        }
      }
      case Value.OfCall c -> fill(strips, v, frame.ofCall[c.number().ordinal()], n);
      case Value.Literal l -> fill(strips, v, l.number(), n);
      case Value.Widened w -> Strips.widen(strips.floats(of[0]), strips.doubles(v), n);
      case Value.Rounded r -> Strips.round(strips.doubles(of[0]), strips.floats(v), n);
      case Value.Cast c when float64 ->
          Strips.cast(strips.doubles(of[0]), c.to(), strips.doubles(v), n);
      case Value.Cast c -> Strips.cast(strips.floats(of[0]), c.to(), strips.floats(v), n);
      case Value.OneNan c -> Strips.oneNan(strips.floats(of[0]), strips.floats(v), n);
      case Value.Binary b when float64 ->
          Strips.operate(
              b.operator(), strips.doubles(of[0]), strips.doubles(of[1]), strips.doubles(v), n);
      case Value.Binary b ->
          Strips.operate(
              b.operator(), strips.floats(of[0]), strips.floats(of[1]), strips.floats(v), n);
      case Value.Root r -> Strips.root(strips.doubles(of[0]), strips.doubles(v), n);
      case Value.Choice c ->
          Strips.choose(
              strips.doubles(of[0]),
              c.orEqual(),
              strips.doubles(of[1]),
              strips.doubles(of[2]),
              strips.doubles(of[3]),
              strips.doubles(v),
              n);
    }
  }

  private void fill(Strips strips, int v, double number, int n) {
    if (values[v].float64()) {
      Arrays.fill(strips.doubles(v), 0, n, number);
    } else {
      Arrays.fill(strips.floats(v), 0, n, (float) number);
    }
  }

  private static void load(Frame frame, Value.Element element, int v, int row, int i, int n) {
    int slot = element.rows().ordinal();
    Object base = frame.base[slot];
    long at = frame.offset[slot] + row * frame.stride[slot] + (long) i * element.type().bytes();
    Strips strips = frame.strips;
    if (element.float64()) {
      Memory.read(base, at, strips.doubles(v), n);
    } else {
      Memory.read(element.type(), base, at, strips.floats(v), strips.patterns, n);
    }
  }

  private void column(Frame frame, Value.OfColumn value, int v, int i, int n) {
    Object numbers = frame.columns[value.column().ordinal()];
    int from = frame.column + i;
    Object into = value.float64() ? frame.strips.doubles(v) : frame.strips.floats(v);
    if (from >= evenFirst) {
      System.arraycopy(numbers, from, into, 0, n);
      return;
    }
    for (int k = 0; k < n; k++) {
      frame.strips.floats(v)[k] = ((float[]) numbers)[place(from + k)];
    }
  }

  private int place(int column) {
    return column < evenFirst ? RowSum.evenFirst(column) : column;
  }

  /** The statements of elements, or those of the row. */
  private void finish(Frame frame, int row, int i, int n, boolean varying) {
    int sum = 0;
    for (int s = 0; s < results.length; s++) {
      int v = results[s];
      Part.Statement statement = statements.get(s);
      boolean ofElements = varies[v] || statement.isOfElements();
      if (ofElements == varying) {
        finish(frame, statement, v, sum, row, i, n);
      }
      sum += statement instanceof Part.Sum ? 1 : 0;
    }
  }

  private void finish(
      Frame frame, Part.Statement statement, int v, int sum, int row, int i, int n) {
    Strips strips = frame.strips;
    switch (statement) {
      case Part.Sum s ->
          Strips.addToLanes(strips.doubles(v), frame.lanes[sum], row * RowSum.LANES, n);
      case Part.Store s -> store(frame, s, v, row, i, n);
      case Part.ColumnSum s -> columnSum(frame, s, v, i, n);
      case Part.Keep k -> System.arraycopy(strips.doubles(v), 0, frame.of(k.number()), row, n);
      case Part.Range r -> frame.outOfRange |= !r.holds(strips.doubles(v), n);
    }
  }

  private void store(Frame frame, Part.Store store, int v, int row, int i, int n) {
    int slot = store.rows().ordinal();
    Object base = frame.base[slot];
    long at = frame.offset[slot] + row * frame.stride[slot] + (long) i * store.type().bytes();
    Strips strips = frame.strips;
    if (store.type() == ElementType.FLOAT64) {
      Memory.write(base, at, strips.doubles(v), n);
      return;
    }
    float[] floats = strips.floats(values[v].float64() ? values.length : v);
    if (values[v].float64()) {
      Strips.round(strips.doubles(v), floats, n);
    }
    Memory.write(store.type(), base, at, floats, strips.patterns, n);
  }

  private void columnSum(Frame frame, Part.ColumnSum sum, int v, int i, int n) {
    Object numbers = frame.columns[sum.column().ordinal()];
    int from = frame.column + i;
    if (values[v].float64()) {
      Strips.addTo((double[]) numbers, from, frame.strips.doubles(v), n);
    } else if (from >= evenFirst) {
      Strips.addTo((float[]) numbers, from, frame.strips.floats(v), n);
    } else {
      for (int k = 0; k < n; k++) {
        ((float[]) numbers)[place(from + k)] += frame.strips.floats(v)[k];
      }
    }
  }
}
