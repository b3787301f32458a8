package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Drawn rows and numbers for some stages, each with rows of its own. One seed gives the same each
 * time, so that each way to compute has its own.
 */
final class Work {
  private final List<Stage> stages;
  private final int column;
  private final int rows;
  private final int width;
  private final boolean paired;
  private final List<Map<Tensor, Rectangle>> rectangles = new ArrayList<>();
  private final Map<Tensor, double[]> columns = new TreeMap<>();
  private final double[][] ofRow = new double[Tensor.Access.ROW.places()][Frame.MAX_ROWS];
  private final Map<Tensor, Double> ofCall = new TreeMap<>();
  private Frame frame;
  private Boolean holds;

  /**
   * Draws.
   *
   * @param column where the rows' columns begin
   * @param ordered whether rows have the same places in every array of a type
   */
  Work(
      long seed,
      Arena arena,
      List<Stage> stages,
      Map<Tensor, Memory> memory,
      int column,
      int rows,
      int width,
      boolean paired,
      boolean ordered) {
    SplittableRandom random = new SplittableRandom(seed);
    this.stages = stages;
    this.column = column;
    this.rows = rows;
    this.width = width;
    this.paired = paired;
    for (Stage stage : stages) {
      Map<Tensor, Rectangle> own = new TreeMap<>();
      stage
          .rows()
          .forEach(
              (operand, type) ->
                  own.put(
                      operand,
                      new Rectangle(
                          random, arena, type, memory.get(operand), rows, width, ordered)));
      rectangles.add(own);
    }
    for (Tensor c : NormTensors.COLUMNS) {
      columns.put(c, random.doubles(column + width, -1, 1).map(d -> (float) d).toArray());
    }
    for (double[] numbers : ofRow) {
      Arrays.setAll(numbers, r -> random.nextDouble(-1, 2));
    }
    for (Tensor number : NormTensors.OF_CALL) {
      ofCall.put(number, random.nextDouble(0.1, 2));
    }
  }

  private boolean isFloat64() {
    return stages.stream().anyMatch(p -> p.rows().containsValue(ElementType.FLOAT64));
  }

  /** Where a column's number lies: of every whole 32 the even ones come first. */
  private int place(int c) {
    int whole = (column + width) / 32 * 32;
    return paired && c < whole ? c / 32 * 32 + c % 2 * 16 + c % 32 / 2 : c;
  }

  /** The frames of the stages, one for each, that share their numbers. */
  List<Frame> frames() {
    frame = new Frame();
    List<Frame> frames = new ArrayList<>();
    for (Map<Tensor, Rectangle> own : rectangles) {
      Frame each = frames.isEmpty() ? frame : new Frame(frame);
      own.forEach((operand, rectangle) -> rectangle.place(each, operand, 0));
      frames.add(each);
    }
    columns.forEach((c, numbers) -> frame.point(c, array(numbers)));
    frame.moveColumns(column);
    frames.forEach(each -> each.shareColumns(frame));
    for (int n = 0; n < ofRow.length; n++) {
      frame.ofRow[n] = ofRow[n].clone();
    }
    ofCall.forEach(frame::set);
    return frames;
  }

  private Object array(double[] numbers) {
    double[] wide = new double[numbers.length];
    float[] narrow = new float[numbers.length];
    for (int c = 0; c < numbers.length; c++) {
      wide[place(c)] = numbers[c];
      narrow[place(c)] = (float) numbers[c];
    }
    return isFloat64() ? wide : narrow;
  }

  /** Points a frame at a piece of a row. */
  void piece(Frame frame, int from) {
    rectangles.getFirst().forEach((operand, rectangle) -> rectangle.place(frame, operand, from));
    frame.moveColumns(column + from);
  }

  /** Does it all by definition, stage after stage. */
  void byDefinition(int from, int to) {
    for (int p = 0; p < stages.size(); p++) {
      Map<Tensor, double[]> own = new TreeMap<>();
      columns.forEach((c, all) -> own.put(c, Arrays.copyOfRange(all, column, all.length)));
      ByDefinition definition = new ByDefinition(rectangles.get(p), own, ofRow, ofCall);
      boolean all = definition.run(stages.get(p), rows, from, to);
      own.forEach((c, numbers) -> System.arraycopy(numbers, 0, columns.get(c), column, width));
      holds = p == 0 ? all : holds;
    }
  }

  /** What differs from what another way left; null if nothing does. */
  String difference(Work other) {
    for (int p = 0; p < stages.size(); p++) {
      for (Map.Entry<Tensor, Rectangle> own : rectangles.get(p).entrySet()) {
        boolean oneNan = hasOneNan(stages.get(p), own.getKey());
        byte[] bytes = own.getValue().bytes(oneNan);
        byte[] others = other.rectangles.get(p).get(own.getKey()).bytes(oneNan);
        int at = Arrays.mismatch(bytes, others);
        if (at >= 0) {
          return own.getKey() + " of " + own.getValue().where(at);
        }
      }
    }
    for (Tensor c : NormTensors.COLUMNS) {
      int at = Arrays.mismatch(numbers(c), other.numbers(c));
      if (at >= 0) {
        return c + "[" + at + "]: " + numbers(c)[at] + ", " + other.numbers(c)[at];
      }
    }
    for (int n = 0; n < ofRow.length; n++) {
      double[] mine = Arrays.copyOf(ofRow(n), rows);
      double[] others = Arrays.copyOf(other.ofRow(n), rows);
      int at = Arrays.mismatch(mine, others);
      if (at >= 0) {
        return "number " + n + " of row " + at + ": " + mine[at] + ", " + others[at];
      }
    }
    boolean ranges =
        stages.getFirst().statements().stream().anyMatch(Stage.Range.class::isInstance);
    return !ranges || holds() == other.holds() ? null : "in range: " + holds();
  }

  private static boolean hasOneNan(Stage stage, Tensor operand) {
    return stage.statements().stream()
        .anyMatch(
            s ->
                s instanceof Stage.Store store
                    && store.rows().equals(operand)
                    && store.value().kind() == Value.Kind.ONE_NAN);
  }

  private double[] ofRow(int number) {
    return frame == null ? ofRow[number] : frame.ofRow[number];
  }

  private boolean holds() {
    return frame == null ? holds : !frame.outOfRange;
  }

  /** The numbers of columns, in natural order. */
  private double[] numbers(Tensor c) {
    double[] numbers = columns.get(c).clone();
    for (int k = 0; frame != null && k < numbers.length; k++) {
      Object array = frame.base[c.slot()];
      numbers[k] = array instanceof float[] f ? f[place(k)] : ((double[]) array)[place(k)];
    }
    return numbers;
  }
}
