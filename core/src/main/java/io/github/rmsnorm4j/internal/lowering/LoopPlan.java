package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How the elements of a stage become loops over arrays.
 *
 * <p>The JIT compiles a loop to vectors only if it knows that what the loop stores is not what
 * later iterations read. It knows that of arrays of different types, and of one array or different
 * arrays with the same index. So an array has one of two types: float[] for rows of float32
 * arithmetic and values between loops, all with one index; double[] for columns and terms of sums,
 * all with another index.
 *
 * <p>Rows are float32 or float64: those of 16-bit types are converted before.
 *
 * <p>The JIT makes no vectors for a change of the bits of a float. So a value that is rounded to 16
 * bits, or a power of two, is computed by a loop of its own, between the loop that computes its
 * operand and the loop that reads it.
 */
final class LoopPlan {
  /** What the numbers of an array are. */
  enum Kind {
    /** Elements of rows that the stage reads. */
    ROWS,
    /** Numbers of columns. */
    COLUMNS,
    /** Values that a loop saves. */
    SAVED
  }

  /**
   * An array of the loops, in which a strip of elements has one number each.
   *
   * @param tensor of rows and columns; null for saved values
   * @param value what it has
   * @param doubles whether it is a double[]; a float32 value is widened, which is exact
   */
  record Array(Kind kind, Tensor tensor, Value value, boolean doubles) {}

  /**
   * A value that a loop saves in an array.
   *
   * @param adds whether it is added to what the array has
   */
  record Saved(Value value, int array, boolean adds) {}

  /** A value that is rounded to 16 bits, or a power of two, between two arrays. */
  record Rounded(Value value, int from, int to) {}

  /** A loop over elements, and what is rounded after it. */
  record Round(List<Saved> saved, List<Rounded> rounded) {}

  private final Stage stage;
  private final List<Array> arrays = new ArrayList<>();
  private final List<Round> rounds = new ArrayList<>();
  private final Map<Value, Integer> roundOf = new HashMap<>();

  /** The arrays of elements, columns and values between loops. */
  private final Map<Value, Integer> arrayOf = new LinkedHashMap<>();

  /** By statement: the array with its value; -1 for numbers of rows. */
  private final int[] results;

  LoopPlan(Stage stage) {
    this.stage = stage;
    int last = 0;
    for (Value value : stage.values()) {
      roundOf.put(value, round(value));
      last = Math.max(last, roundOf.get(value));
      if (value.kind() == Value.Kind.ELEMENT || value.kind() == Value.Kind.COLUMN) {
        boolean column = value.kind() == Value.Kind.COLUMN;
        Kind kind = column ? Kind.COLUMNS : Kind.ROWS;
        arrayOf.put(value, add(new Array(kind, value.tensor(), value, column || value.float64())));
      }
    }
    for (int r = 0; r <= last; r++) {
      rounds.add(new Round(new ArrayList<>(), new ArrayList<>()));
    }
    results = new int[stage.statements().size()];
    statements();
  }

  /** The loop that computes a value: one more than that of an operand that is rounded. */
  private int round(Value value) {
    int round = 0;
    if (value.perElement()) {
      for (Value operand : value.operands()) {
        round = Math.max(round, roundOf.get(operand) + (isRounded(operand) ? 1 : 0));
      }
    }
    return round;
  }

  /** Whether it is computed between two loops. */
  static boolean isRounded(Value value) {
    boolean changesBits = value.kind() == Value.Kind.CAST || value.kind() == Value.Kind.POWER;
    return changesBits && value.perElement();
  }

  private int add(Array array) {
    arrays.add(array);
    return arrays.size() - 1;
  }

  private void statements() {
    Set<Value> seen = new HashSet<>();
    for (int s = 0; s < results.length; s++) {
      Stage.Statement statement = stage.statements().get(s);
      results[s] = statement.isOfElements() ? result(statement, seen) : -1;
    }
  }

  private int result(Stage.Statement statement, Set<Value> seen) {
    Value value = statement.value();
    saveBefore(value, seen);
    if (isRounded(value)) {
      return arrayOf.get(value);
    }
    boolean doubles =
        statement instanceof Stage.Store store ? store.type() == ElementType.FLOAT64 : true;
    int array = add(new Array(Kind.SAVED, null, value, doubles));
    boolean adds = statement instanceof Stage.ColumnSum;
    rounds.get(roundOf.get(value)).saved.add(new Saved(value, array, adds));
    return array;
  }

  /** Saves the values that later loops read, and those that are rounded between loops. */
  private void saveBefore(Value value, Set<Value> seen) {
    if (!value.perElement() || !seen.add(value)) {
      return;
    }
    for (Value operand : value.operands()) {
      saveBefore(operand, seen);
      boolean later = operand.perElement() && roundOf.get(operand) < roundOf.get(value);
      if (later || isRounded(value)) {
        save(operand);
      }
    }
    if (isRounded(value)) {
      int to = add(new Array(Kind.SAVED, null, value, value.float64()));
      arrayOf.put(value, to);
      int from = arrayOf.get(value.a());
      rounds.get(roundOf.get(value)).rounded.add(new Rounded(value, from, to));
    }
  }

  private void save(Value value) {
    if (!arrayOf.containsKey(value)) {
      int array = add(new Array(Kind.SAVED, null, value, value.float64()));
      arrayOf.put(value, array);
      rounds.get(roundOf.get(value)).saved.add(new Saved(value, array, false));
    }
  }

  Stage stage() {
    return stage;
  }

  /** The values at element 0 of a row, in the order in which a frame has them. */
  List<Value> firsts() {
    return stage.values().stream().filter(value -> value.kind() == Value.Kind.FIRST).toList();
  }

  List<Array> arrays() {
    return arrays;
  }

  List<Round> rounds() {
    return rounds;
  }

  /** By statement: the array with its value; -1 for numbers of rows. */
  int[] results() {
    return results;
  }

  /** The array from which a loop reads a value; null if the loop computes it. */
  Integer array(Value value, int round) {
    boolean before = isRounded(value) ? roundOf.get(value) < round : isKept(value, round);
    return before ? arrayOf.get(value) : null;
  }

  private boolean isKept(Value value, int round) {
    boolean given = value.kind() == Value.Kind.ELEMENT || value.kind() == Value.Kind.COLUMN;
    return given || arrayOf.containsKey(value) && roundOf.get(value) < round;
  }

  /** The slots of the rows that the stage reads or writes. */
  int[] rows() {
    return slots(Tensor.Access.ELEMENT);
  }

  /** The slots of the columns that it reads or adds to. */
  int[] columns() {
    return slots(Tensor.Access.COLUMN);
  }

  private int[] slots(Tensor.Access access) {
    return stage.tensors().keySet().stream()
        .filter(tensor -> tensor.access() == access)
        .mapToInt(Tensor::slot)
        .toArray();
  }

  /** The slot of the rows or columns of an array; -1 if no loop accesses the caller's. */
  int slot(int array) {
    Array of = arrays.get(array);
    if (of.kind != Kind.SAVED) {
      return of.tensor.slot();
    }
    for (int s = 0; s < results.length; s++) {
      if (results[s] == array && stage.statements().get(s) instanceof Stage.Store store) {
        return store.rows().slot();
      }
    }
    return -1;
  }

  /** Whether its loop may access rows in the arrays of the caller. */
  boolean mayReachRows() {
    boolean may = rounds.size() == 1 && rounds.getFirst().rounded.isEmpty();
    return may && (!float64() || mayReachColumns());
  }

  /** Whether its loop may also read columns where they are: it saves nothing in a strip. */
  boolean mayReachColumns() {
    boolean may = rounds.size() == 1 && rounds.getFirst().rounded.isEmpty();
    for (int array = 0; array < arrays.size(); array++) {
      may &= slot(array) >= 0;
    }
    return may;
  }

  /** Whether its values are float64. */
  boolean float64() {
    for (Array array : arrays) {
      if (array.kind == Kind.ROWS || array.kind == Kind.COLUMNS) {
        return array.value.float64();
      }
    }
    return false;
  }

  /**
   * The terms that one iteration of a loop over lanes adds to each of them, from measurements: more
   * make the loop too large for the JIT, so that it makes no vectors. 0 if the terms are saved
   * first, and then added.
   */
  int terms() {
    int rows = 0;
    int columns = 0;
    for (Array array : arrays) {
      rows += array.kind == Kind.ROWS ? 1 : 0;
      columns += array.kind == Kind.COLUMNS ? 1 : 0;
    }
    for (Stage.Statement statement : stage.statements()) {
      if (statement.isOfElements() && !(statement instanceof Stage.Sum)) {
        return 0;
      }
    }
    int sums = stage.sums().size();
    boolean small = columns == 0 && rounds.size() == 1 && rows * sums <= 2;
    return small && sums > 0 ? 4 / (rows * sums) : 0;
  }
}
