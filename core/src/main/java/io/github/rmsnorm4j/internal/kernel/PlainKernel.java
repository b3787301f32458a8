package io.github.rmsnorm4j.internal.kernel;

import static io.github.rmsnorm4j.internal.kernel.Strips.STRIP;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Part;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A part in plain Java: it computes its values one after the other, each for a strip of elements.
 * It needs no generated class, so it can run immediately, on every JVM. All parts share its few
 * loops, so the JIT compiles them early.
 *
 * <p>In a part without elements, such as the one from sums to roots, the rows are the elements.
 */
public final class PlainKernel implements Kernel {
  private final List<Part.Statement> statements;
  private final List<Part.Sum> sums;

  /** Every value once; operands come before the value that uses them. */
  private final List<Value> values = new ArrayList<>();

  /** By value: the places of its operands. */
  private final List<int[]> operands = new ArrayList<>();

  /** By value: whether it exists for each element, and not once for the row. */
  private final boolean[] varies;

  /** By statement: the place of its value. */
  private final int[] results;

  /** By statement: the places of the float32 factors of a row sum; null for other statements. */
  private final int[][] products;

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
    ofRows = part.isOfRows();
    results = new int[statements.size()];
    products = new int[statements.size()][];
    boolean keeps = false;
    for (int s = 0; s < results.length; s++) {
      results[s] = result(s, statements.get(s));
      keeps |= statements.get(s) instanceof Part.Keep;
    }
    this.keeps = keeps;
    varies = new boolean[values.size()];
    for (int v = 0; v < varies.length; v++) {
      Value value = values.get(v);
      varies[v] = ofRows ? value instanceof Value.OfRow : value.perElement();
      for (int of : operands.get(v)) {
        varies[v] |= varies[of];
      }
    }
  }

  /** The place of a statement's value; exact products are computed when they are summed. */
  private int result(int s, Part.Statement statement) {
    if (statement instanceof Part.Sum && statement.value().isExactProduct()) {
      Value[] factors = statement.value().parts();
      products[s] = new int[] {place(factors[0].parts()[0]), place(factors[1].parts()[0])};
      return products[s][0];
    }
    return place(statement.value());
  }

  /** The place of a value, which is added if it is new. */
  private int place(Value value) {
    // The operands of a row's first element are computed for that element alone.
    Value[] parts = value instanceof Value.First ? new Value[0] : value.parts();
    int[] of = new int[parts.length];
    for (int k = 0; k < of.length; k++) {
      of[k] = place(parts[k]);
    }
    for (int v = 0; v < values.size(); v++) {
      if (values.get(v) == value) {
        return v;
      }
    }
    values.add(value);
    operands.add(of);
    return values.size() - 1;
  }

  @Override
  public void run(Frame frame, int rows, int from, int to) {
    if (ofRows) {
      frame.outOfRange = false;
      compute(frame, 0, 0, rows, false);
      compute(frame, 0, 0, rows, true);
      finish(frame, 0, 0, rows, false);
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

  /** Works strip by strip, and leaves row sums in the lanes. */
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
    for (int v = 0; v < varies.length; v++) {
      if (varies[v] == varying) {
        compute(frame, v, row, i, n);
      }
    }
  }

  private void compute(Frame frame, int v, int row, int i, int n) {
    Strips strips = frame.strips;
    Value value = values.get(v);
    if (value instanceof Value.Element e) {
      load(frame, e, v, row, i, n);
    } else if (value instanceof Value.OfColumn c) {
      column(frame, c, v, i, n);
    } else if (value instanceof Value.First f) {
      fill(strips, v, FirstElement.of(f.of(), frame, row), n);
    } else if (value instanceof Value.OfRow r && ofRows) {
      System.arraycopy(frame.of(r.number()), 0, strips.doubles(v), 0, n);
    } else if (value instanceof Value.OfRow r) {
      fill(strips, v, frame.of(r.number())[row], n);
    } else if (value instanceof Value.OfCall c) {
      fill(strips, v, frame.ofCall[c.number().ordinal()], n);
    } else if (value instanceof Value.Literal l) {
      fill(strips, v, l.number(), n);
    } else {
      strips.operate(value, operands.get(v), v, n);
    }
  }

  private void fill(Strips strips, int v, double number, int n) {
    if (values.get(v).float64()) {
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
      if (ofElements == varying && products[s] != null) {
        float[] a = frame.strips.floats(products[s][0]);
        float[] b = frame.strips.floats(products[s][1]);
        Strips.addProductsToLanes(a, b, frame.lanes[sum], row * RowSum.LANES, n);
      } else if (ofElements == varying) {
        finish(frame, statement, v, sum, row, i, n);
      }
      sum += statement instanceof Part.Sum ? 1 : 0;
    }
  }

  private void finish(
      Frame frame, Part.Statement statement, int v, int sum, int row, int i, int n) {
    Strips strips = frame.strips;
    if (statement instanceof Part.Sum) {
      Strips.addToLanes(strips.doubles(v), frame.lanes[sum], row * RowSum.LANES, n);
    } else if (statement instanceof Part.Store s) {
      store(frame, s, v, row, i, n);
    } else if (statement instanceof Part.ColumnSum s) {
      columnSum(frame, s, v, i, n);
    } else if (statement instanceof Part.Keep k) {
      System.arraycopy(strips.doubles(v), 0, frame.of(k.number()), row, n);
    } else if (statement instanceof Part.Range r) {
      frame.outOfRange |= !r.holds(strips.doubles(v), n);
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
    float[] floats = strips.floats(values.get(v).float64() ? values.size() : v);
    if (values.get(v).float64()) {
      Strips.round(strips.doubles(v), floats, n);
    }
    Memory.write(store.type(), base, at, floats, strips.patterns, n);
  }

  private void columnSum(Frame frame, Part.ColumnSum sum, int v, int i, int n) {
    Object numbers = frame.columns[sum.column().ordinal()];
    int from = frame.column + i;
    if (values.get(v).float64()) {
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
