package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What calls with row statistics refuse, before they write anything. */
class RowStatisticsArgumentsTest {
  private static final int W = 4;
  private static final int ROWS = 3;
  private static final RmsNorm RMS = RmsNorm.builder(W).build();
  private static final LayerNorm LAYER = LayerNorm.builder(W).build();
  private static final Norm GROUPED = LayerNorm.builder(W).groupCount(2).build();

  /** The operands of all calls; each call takes its own. Null stands for a null argument. */
  private record Operands(Rows x, Rows y, double[] sums, long columns, RowStatistics statistics) {
    static Operands of(Norm norm) {
      boolean centred = norm.spec().isCentred();
      int n = ROWS * norm.groups;
      double[] sums = new double[centred ? 2 * n : n];
      return new Operands(rows(ROWS), rows(ROWS), sums, W, numbers(n, centred));
    }

    static Rows rows(int rows) {
      return Rows.of(new double[rows * W], W);
    }

    static RowStatistics numbers(int n, boolean centred) {
      double[] rstd = new double[n];
      return centred ? RowStatistics.of(new double[n], rstd) : RowStatistics.of(rstd);
    }

    Operands x(Rows x) {
      return new Operands(x, y, sums, columns, statistics);
    }

    Operands y(Rows y) {
      return new Operands(x, y, sums, columns, statistics);
    }

    Operands sums(double[] sums) {
      return new Operands(x, y, sums, columns, statistics);
    }

    Operands columns(long columns) {
      return new Operands(x, y, sums, columns, statistics);
    }

    Operands statistics(RowStatistics statistics) {
      return new Operands(x, y, sums, columns, statistics);
    }
  }

  private enum Call {
    STATISTICS("into"),
    SUMS(""),
    OF_SUMS("into"),
    APPLY("given");

    /** The name of the statistics. */
    final String name;

    Call(String name) {
      this.name = name;
    }

    void on(Norm norm, Operands operands) {
      switch (this) {
        case STATISTICS -> norm.statistics(operands.x, operands.statistics);
        case SUMS -> norm.sums(operands.x, operands.sums);
        case OF_SUMS -> norm.statistics(operands.sums, operands.columns, operands.statistics);
        case APPLY -> norm.apply(operands.x, operands.statistics, operands.y);
      }
    }
  }

  private static final List<Call> OF_X = List.of(Call.STATISTICS, Call.SUMS, Call.APPLY);
  private static final List<Call> OF_NUMBERS = List.of(Call.STATISTICS, Call.OF_SUMS, Call.APPLY);
  private static final List<Call> OF_BOTH = List.of(Call.STATISTICS, Call.APPLY);

  /** A fault in operands of some calls; the message may have the name of the statistics. */
  private record Fault(List<Call> calls, Norm norm, UnaryOperator<Operands> with, String message) {}

  private static Fault fault(
      List<Call> calls, Norm norm, UnaryOperator<Operands> with, String message) {
    return new Fault(calls, norm, with, message);
  }

  static Stream<Fault> faults() {
    List<Call> sums = List.of(Call.SUMS);
    List<Call> ofSums = List.of(Call.OF_SUMS);
    List<Call> apply = List.of(Call.APPLY);
    List<Call> eitherSums = List.of(Call.SUMS, Call.OF_SUMS);
    double[] same = new double[ROWS];
    double[] memory = new double[ROWS * W];
    RowStatistics twoRows = Operands.numbers(2, true);
    return Stream.of(
        fault(OF_X, RMS, o -> o.x(null), "x is null"),
        fault(apply, RMS, o -> o.y(null), "y is null"),
        fault(eitherSums, RMS, o -> o.sums(null), "sums is null"),
        fault(OF_NUMBERS, RMS, o -> o.statistics(null), "NAME is null"),
        fault(
            OF_X,
            RMS,
            o -> o.x(Rows.of(new double[15], 5)),
            "x has rows 5 wide, the norm is 4 wide"),
        fault(
            apply, RMS, o -> o.y(Operands.rows(2)), "y has 2 rows, x has 3: they must be the same"),
        fault(
            OF_NUMBERS,
            RMS,
            o -> o.statistics(Operands.numbers(ROWS, true)),
            "NAME has a mean, of RmsNorm(4, rmsnorm) it must have rstd alone"),
        fault(
            OF_NUMBERS,
            LAYER,
            o -> o.statistics(Operands.numbers(ROWS, false)),
            "NAME has no mean, of LayerNorm(4, layernorm) it must have mean and rstd"),
        fault(
            OF_NUMBERS,
            RMS,
            o -> o.statistics(Operands.numbers(2, false)),
            "rstd has room for 2 rows, there are 3"),
        fault(
            OF_NUMBERS,
            LAYER,
            o -> o.statistics(RowStatistics.of(new double[ROWS], new double[2])),
            "rstd has room for 2 rows, there are 3"),
        fault(
            OF_NUMBERS, LAYER, o -> o.statistics(twoRows), "mean has room for 2 rows, there are 3"),
        fault(
            OF_NUMBERS,
            GROUPED,
            o -> o.statistics(Operands.numbers(5, true)),
            "mean has room for 5 groups, there are 6"),
        fault(
            sums,
            RMS,
            o -> o.sums(new double[4]),
            "sums has 4 elements, it must have 3: 1 for each of 3 rows"),
        fault(
            sums,
            GROUPED,
            o -> o.sums(new double[6]),
            "sums has 6 elements, it must have 12: 2 for each of 6 groups"),
        fault(
            ofSums,
            LAYER,
            o -> o.sums(new double[5]),
            "sums has 5 elements, it must have 2 for each row"),
        fault(
            ofSums,
            GROUPED,
            o -> o.sums(new double[10]),
            "sums has 10 elements, it must have 4 for each row"),
        fault(
            ofSums,
            RMS,
            o -> o.columns(3),
            "columns is 3, of RmsNorm(4, rmsnorm) it must be at least 4, the elements that it sums"),
        fault(
            ofSums,
            RMS,
            o -> o.sums(same).statistics(RowStatistics.of(same)),
            "rstd is sums: it must be an array of its own"),
        fault(
            ofSums,
            LAYER,
            o -> o.sums(memory).statistics(RowStatistics.of(memory, new double[6])),
            "mean is sums: it must be an array of its own"),
        fault(
            OF_BOTH,
            RMS,
            o -> o.x(Rows.of(memory, W)).statistics(RowStatistics.of(memory)),
            "rstd overlaps rows of the call: it must be an array of its own"),
        fault(
            OF_BOTH,
            LAYER,
            o -> o.x(Rows.of(memory, W)).statistics(RowStatistics.of(memory, same)),
            "mean overlaps rows of the call: it must be an array of its own"),
        fault(
            apply,
            RMS,
            o -> o.y(Rows.of(memory, W)).statistics(RowStatistics.of(memory)),
            "rstd overlaps rows of the call: it must be an array of its own"),
        fault(
            sums,
            RmsNorm.builder(W).groupCount(4).build(),
            o -> o.x(Rows.of(memory, W)).sums(memory),
            "sums overlaps rows of the call: it must be an array of its own"),
        fault(
            apply,
            RMS,
            o ->
                o.y(Rows.of(MemorySegment.ofArray(memory).asReadOnly(), ElementType.FLOAT64, 3, W)),
            "y is read-only, it must be writable"),
        fault(
            eitherSums,
            RmsNorm.builder(W).partial(0.5).build(),
            o -> o,
            "part is 1/2, of a norm with sums of columns it must be 1"),
        fault(
            ofSums,
            NormSpec.parse("rmsnorm(eps=type)").builder(W).build(),
            o -> o,
            "epsilon is that of the type of the rows, of a norm with sums it must be a number"),
        fault(
            List.of(Call.values()),
            RmsNorm.builder(W).gate(Gate.SILU).build(),
            o -> o,
            "gate is silu, this call has no z and needs a norm without a gate: call applyGated"));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void oneLineSaysWhatIsWrong(Fault fault) {
    for (Call call : fault.calls) {
      Operands operands = fault.with.apply(Operands.of(fault.norm));
      fill(operands);
      String message = fault.message.replace("NAME", call.name);
      assertThatThrownBy(() -> call.on(fault.norm, operands))
          .as(call + ", " + message)
          .isInstanceOf(
              message.endsWith("is null")
                  ? NullPointerException.class
                  : IllegalArgumentException.class)
          .hasMessage(message);
      requireUntouched(operands);
    }
  }

  /** Without a fault each call returns. */
  @Test
  void operandsWithoutAFaultServe() {
    for (Norm norm : new Norm[] {RMS, LAYER, GROUPED}) {
      for (Call call : Call.values()) {
        call.on(norm, Operands.of(norm));
      }
    }
  }

  private static void fill(Operands operands) {
    each(operands, numbers -> Arrays.fill(numbers, 7));
  }

  private static void requireUntouched(Operands operands) {
    each(operands, numbers -> assertThat(numbers).containsOnly(7));
  }

  private static void each(Operands operands, Consumer<double[]> numbers) {
    if (operands.sums != null) {
      numbers.accept(operands.sums);
    }
    if (operands.statistics != null) {
      numbers.accept(operands.statistics.rstd());
      if (operands.statistics.mean() != null) {
        numbers.accept(operands.statistics.mean());
      }
    }
  }

  @Test
  void memoryThatCannotBeReached() throws Exception {
    Rows closed;
    try (Arena arena = Arena.ofConfined()) {
      closed = Rows.of(arena.allocate(96), ElementType.FLOAT64, ROWS, W);
    }
    try (Arena arena = Arena.ofConfined()) {
      Rows confined = Rows.of(arena.allocate(96), ElementType.FLOAT64, ROWS, W);
      for (Call call : OF_X) {
        assertThatThrownBy(() -> call.on(RMS, Operands.of(RMS).x(closed)))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("x is in memory that has been closed");
        call.on(RMS, Operands.of(RMS).x(confined));
        Throwable[] thrown = new Throwable[1];
        ThrowingCallable elsewhere = () -> call.on(RMS, Operands.of(RMS).x(confined));
        Thread other = new Thread(() -> thrown[0] = catchThrowable(elsewhere));
        other.start();
        other.join();
        assertThat(thrown[0])
            .isInstanceOf(WrongThreadException.class)
            .hasMessage("x is in memory that is confined to another thread");
      }
    }
  }

  @Test
  void statisticsOfNoArrays() {
    double[] one = {1};
    assertThatThrownBy(() -> RowStatistics.of(null)).hasMessage("rstd is null");
    assertThatThrownBy(() -> RowStatistics.of(one, null)).hasMessage("rstd is null");
    assertThatThrownBy(() -> RowStatistics.of(null, one)).hasMessage("mean is null");
    assertThatThrownBy(() -> RowStatistics.of(one, one))
        .hasMessage("mean and rstd are one array: each needs its own");
  }
}
