package io.github.rmsnorm4j.internal.backend;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.DefinedStage;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Program.Step;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * A back end that evaluates programs element by element, and shares no code with the others. A
 * float32 is held as the float64 that is equal to it. Every access is checked: a step reads what
 * the call has, within its extent, and numbers that are known; it writes each element of its extent
 * once.
 *
 * @param wide whether it does float32 rows that are out of range itself. Then it knows no type of
 *     16 bits, so its programs are others. It never does float64 rows that are out of range
 * @param done takes each step that was done for a row, after its program
 */
record InterpretedBackEnd(boolean wide, BiConsumer<Program, Step> done) implements BackEnd {
  @Override
  public Compiled compile(Call call, OutputStores stores) {
    Storage storage = call.storage(wide ? Set.of() : PlainBackEnd.NARROW);
    Program program = call.program(storage);
    return opened -> new Rows(opened, storage, program);
  }

  /** The rows of a call. */
  private static final Set<Tensor> SUMS_OF_GROUPS =
      Set.of(Backward.GAIN_GRADIENT_OF_GROUPS, Backward.BIAS_GRADIENT_OF_GROUPS);

  private final class Rows extends DefinedStage implements Worker {
    private final Call call;
    private final Storage storage;
    private final Program program;
    private final int width;

    /** By place: numbers of the row; null where they are not known. */
    private final Double[] numbers = new Double[Tensor.Access.ROW.places()];

    /** By slot: elements that were stored, and columns that were added to. */
    private final BitSet[] written = new BitSet[Tensor.SLOTS];

    /** By place: the rows that the step has accessed. */
    private final MemorySegment[] elements = new MemorySegment[Tensor.Access.ELEMENT.places()];

    private Object[] sums;
    private int row;

    /** The elements of the step. */
    private int from;

    private int to;

    Rows(Call call, Storage storage, Program program) {
      this.call = call;
      this.storage = storage;
      this.program = program;
      width = call.choices().width();
    }

    @Override
    public void close() {}

    @Override
    public long run(long first, long end, Object[] sums) {
      this.sums = sums;
      row = (int) first;
      while (row < end && isDone()) {
        row++;
      }
      return row - first;
    }

    @Override
    public int stoppedAt(Frame into) {
      for (int place = 0; place < numbers.length; place++) {
        into.ofRow[place][0] = numbers[place] == null ? Double.NaN : numbers[place];
      }
      return 1;
    }

    /** Does the row; false if it stopped before the step with ranges. */
    private boolean isDone() {
      Arrays.fill(numbers, null);
      Arrays.setAll(written, slot -> new BitSet());
      for (int place = 0; call.given() != null && place < numbers.length; place++) {
        double[] given = call.given()[place];
        numbers[place] = given != null ? Double.valueOf(given[row]) : noMean(place);
      }
      boolean inRange = true;
      for (int s = 0; s < program.steps().size() && inRange; s++) {
        Step step = program.steps().get(s);
        for (Stage.Statement statement : step.stage().statements()) {
          inRange &=
              !(statement instanceof Stage.Range range)
                  || range.holds(new double[] {value(range.value(), 0)}, 1);
        }
        if (!inRange && !(wide && program.wide() != null)) {
          return false;
        }
        run(step);
      }
      if (!inRange) {
        program.wide().forEach(this::run);
      }
      for (int place = 0; call.kept() != null && place < numbers.length; place++) {
        if (call.kept()[place] != null) {
          boolean rounds = place == Forward.RSTD.place() && inRange && !call.float64();
          call.kept()[place][row] = rounds ? (float) (double) numbers[place] : numbers[place];
        }
      }
      requireWritten(call.formula().output(), 0, width);
      for (Step step : program.steps()) {
        step.stage().written().keySet().forEach(tensor -> requireWritten(tensor, 0, width));
      }
      return true;
    }

    /** A mean that was not kept is 0. */
    private static Double noMean(int place) {
      return place == Forward.MEAN.place() ? 0.0 : null;
    }

    private void run(Step step) {
      from = step.extent().from(call.choices().part());
      to = step.extent().to(width, call.choices().part());
      Arrays.fill(elements, null);
      run(step.stage(), from, to);
      step.stage().written().keySet().forEach(tensor -> requireWritten(tensor, from, to));
      done.accept(program, step);
    }

    @Override
    protected void take(Stage.Statement statement, int i, double value) {
      switch (statement) {
        case Stage.Keep keep -> numbers[keep.number().place()] = value;
        case Stage.Sum sum -> numbers[sum.number().place()] = value;
        case Stage.Store store -> {
          boolean added = store.rows().equals(Forward.RESIDUAL) && call.rows(Forward.Y) != null;
          boolean ofGate = store.rows().equals(Backward.DZ) && call.rows(Forward.Z) != null;
          boolean output = store.rows().equals(call.formula().output());
          boolean ofSums = SUMS_OF_GROUPS.contains(store.rows()) && call.rows(store.rows()) != null;
          mark(store.rows(), i, added || ofGate || output || ofSums);
          MemorySegment into = elements(store.rows(), store.type());
          call.rows(store.rows()).type().set(into, i, store.type().round(value));
        }
        case Stage.ColumnSum sum -> {
          mark(sum.column(), i, sums != null);
          switch (sums[sum.column().place()]) {
            case float[] columns when !sum.value().float64() -> columns[i] += (float) value;
            case double[] columns when sum.value().float64() -> columns[i] += value;
            default -> require(false, sum.column());
          }
        }
        case Stage.Range range -> throw new AssertionError(range);
      }
    }

    private void mark(Tensor tensor, int i, boolean isOutput) {
      require(isOutput && !written[tensor.slot()].get(i), tensor);
      written[tensor.slot()].set(i);
    }

    @Override
    protected double read(Value v, int i) {
      Tensor of = v.tensor();
      boolean epsilon = of.equals(Forward.EPSILON);
      boolean allowed =
          switch (v.kind()) {
            case ROW -> numbers[of.place()] != null;
            case CALL -> epsilon || of.equals(Forward.K);
            default -> from <= i && i < to;
          };
      require(allowed, of);
      return switch (v.kind()) {
        case ELEMENT -> call.rows(of).type().get(elements(of, v.type()), i);
        case COLUMN ->
            v.float64() ? ((double[]) call.column(of))[i] : ((float[]) call.column(of))[i];
        case ROW -> numbers[of.place()];
        default -> epsilon ? call.choices().epsilon() : call.choices().part();
      };
    }

    /** The elements of the row, which must be stored as a step has them. */
    private MemorySegment elements(Tensor tensor, ElementType stored) {
      if (elements[tensor.place()] == null) {
        RowMemory rows = call.formula().rows().contains(tensor) ? call.rows(tensor) : null;
        require(rows != null && stored == storage.of(rows.type()), tensor);
        long bytes = (long) width * rows.type().bytes();
        elements[tensor.place()] = rows.segment().asSlice(rows.offset(row), bytes);
      }
      return elements[tensor.place()];
    }

    private void requireWritten(Tensor tensor, int first, int end) {
      require(written[tensor.slot()].nextClearBit(first) >= end, tensor);
    }

    private void require(boolean allowed, Tensor tensor) {
      if (!allowed) {
        throw new AssertionError(tensor + " of row " + row + " must not be accessed, " + program);
      }
    }
  }
}
