package io.github.rmsnorm4j.internal.kernel;

import static io.github.rmsnorm4j.internal.kernel.Strips.STRIP;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.SumOrder;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.Arrays;
import java.util.List;

/**
 * A stage in plain Java: it computes its values one after the other, each for a strip of elements.
 * It needs no generated class, so it can run immediately, on every JVM. All stages share its few
 * loops, so the JIT compiles them early.
 *
 * <p>In a stage without elements, such as the one from sums to roots, the rows are the elements.
 */
public final class PlainKernel implements Kernel {
  private final List<Stage.Statement> statements;
  private final List<Stage.Sum> sums;
  private final List<Value> values;

  /** By value: the places of its operands. */
  private final int[][] operands;

  /** By value: whether it exists for each element, and not once for the row. */
  private final boolean[] varies;

  /** By value: whether it is computed; an exact product is computed when it is summed. */
  private final boolean[] computed;

  /** By statement: the place of its value. */
  private final int[] results;

  /** By statement: the places of the float32 factors of a row sum; null for other statements. */
  private final int[][] products;

  private final boolean ofRows;
  private final boolean keeps;

  /** Columns below this lie with the even ones first, in every 32. */
  private final int evenFirst;

  /**
   * Makes a stage ready.
   *
   * @param evenFirst columns below this lie with the even ones first, in every 32
   */
  public PlainKernel(Stage stage, int evenFirst) {
    this.evenFirst = evenFirst;
    statements = stage.statements();
    sums = stage.sums();
    ofRows = stage.isOfRows();
    values = stage.values();
    operands = new int[values.size()][];
    varies = new boolean[values.size()];
    computed = new boolean[values.size()];
    results = new int[statements.size()];
    products = new int[statements.size()][];
    boolean keeps = false;
    for (int v = 0; v < varies.length; v++) {
      prepare(v, values.get(v));
    }
    for (int s = 0; s < results.length; s++) {
      Stage.Statement statement = statements.get(s);
      results[s] = values.indexOf(statement.value());
      keeps |= statement instanceof Stage.Keep;
      if (statement instanceof Stage.Sum && statement.value().isExactProduct()) {
        int[] factors = operands[results[s]];
        products[s] = new int[] {operands[factors[0]][0], operands[factors[1]][0]};
        compute(products[s][0]);
        compute(products[s][1]);
      } else {
        compute(results[s]);
      }
    }
    this.keeps = keeps;
  }

  private void prepare(int v, Value value) {
    varies[v] = ofRows ? value.kind() == Value.Kind.ROW : value.perElement();
    // The operand of a row's first element is computed for that element alone.
    int count = value.kind() == Value.Kind.FIRST ? 0 : value.operands().size();
    operands[v] = new int[count];
    for (int k = 0; k < count; k++) {
      operands[v][k] = values.indexOf(value.operands().get(k));
      varies[v] |= varies[operands[v][k]];
    }
  }

  /** Marks a value and all that it is made of. */
  private void compute(int v) {
    if (!computed[v]) {
      computed[v] = true;
      for (int of : operands[v]) {
        compute(of);
      }
    }
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
      if ((i - from + STRIP) % SumOrder.BLOCK == 0) {
        RowSum.closeBlock(frame, sums.size(), row);
      }
    }
    RowSum.addTotals(frame, sums.size(), row);
  }

  /** Values of elements, or of the row. */
  private void compute(Frame frame, int row, int i, int n, boolean varying) {
    for (int v = 0; v < varies.length; v++) {
      if (computed[v] && varies[v] == varying) {
        compute(frame, v, row, i, n);
      }
    }
  }

  private void compute(Frame frame, int v, int row, int i, int n) {
    Strips strips = frame.strips;
    Value value = values.get(v);
    switch (value.kind()) {
      case ELEMENT -> {
        int slot = value.tensor().slot();
        if (value.float64()) {
          StripAccess.load(frame, slot, row, i, strips.doubles(v), n);
        } else {
          StripAccess.load(frame, slot, value.type(), row, i, strips.floats(v), n);
        }
      }
      case COLUMN -> column(frame, value, v, i, n);
      case FIRST -> fill(strips, v, FirstElement.of(value.a(), frame, row), n);
      case ROW -> {
        double[] numbers = frame.of(value.tensor());
        if (ofRows) {
          System.arraycopy(numbers, 0, strips.doubles(v), 0, n);
        } else {
          fill(strips, v, numbers[row], n);
        }
      }
      case CALL -> fill(strips, v, frame.ofCall[value.tensor().place()], n);
      case LITERAL -> fill(strips, v, value.number(), n);
      default -> strips.operate(value, operands[v], v, n);
    }
  }

  private void fill(Strips strips, int v, double number, int n) {
    if (values.get(v).float64()) {
      Arrays.fill(strips.doubles(v), 0, n, number);
    } else {
      Arrays.fill(strips.floats(v), 0, n, (float) number);
    }
  }

  private Object strip(Strips strips, int v) {
    return values.get(v).float64() ? strips.doubles(v) : strips.floats(v);
  }

  /** Numbers of columns are always in an array. */
  private void column(Frame frame, Value value, int v, int i, int n) {
    Object numbers = frame.base[value.tensor().slot()];
    int from = StripAccess.column(frame, value.tensor().slot()) + i;
    if (from >= evenFirst) {
      StripAccess.column(frame, value.tensor().slot(), i, strip(frame.strips, v), n);
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
      Stage.Statement statement = statements.get(s);
      boolean ofElements = varies[v] || statement.isOfElements();
      if (ofElements == varying && products[s] != null) {
        float[] a = frame.strips.floats(products[s][0]);
        float[] b = frame.strips.floats(products[s][1]);
        Strips.addProductsToLanes(a, b, frame.lanes[sum], row * SumOrder.LANES, n);
      } else if (ofElements == varying) {
        finish(frame, statement, v, sum, row, i, n);
      }
      sum += statement instanceof Stage.Sum ? 1 : 0;
    }
  }

  private void finish(
      Frame frame, Stage.Statement statement, int v, int sum, int row, int i, int n) {
    Strips strips = frame.strips;
    if (statement instanceof Stage.Sum) {
      Strips.addToLanes(strips.doubles(v), 0, frame.lanes[sum], row * SumOrder.LANES, n);
    } else if (statement instanceof Stage.Store s) {
      StripAccess.store(frame, s.rows().slot(), s.type(), row, i, strip(strips, v), n);
    } else if (statement instanceof Stage.ColumnSum s) {
      columnSum(frame, s, v, i, n);
    } else if (statement instanceof Stage.Keep k) {
      System.arraycopy(strips.doubles(v), 0, frame.of(k.number()), row, n);
    } else if (statement instanceof Stage.Range r) {
      frame.outOfRange |= !r.holds(strips.doubles(v), n);
    }
  }

  private void columnSum(Frame frame, Stage.ColumnSum sum, int v, int i, int n) {
    int from = StripAccess.column(frame, sum.column().slot()) + i;
    if (from >= evenFirst) {
      StripAccess.addTo(frame, sum.column().slot(), i, strip(frame.strips, v), n);
      return;
    }
    Object numbers = frame.base[sum.column().slot()];
    for (int k = 0; k < n; k++) {
      ((float[]) numbers)[place(from + k)] += frame.strips.floats(v)[k];
    }
  }
}
