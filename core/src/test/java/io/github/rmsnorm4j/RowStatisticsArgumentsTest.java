package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What calls with row statistics refuse, before they write anything. */
class RowStatisticsArgumentsTest {
  private static final RmsNorm RMS = RmsNorm.builder(4).build();
  private static final LayerNorm LAYER = LayerNorm.builder(4).build();
  private static final Norm GROUPED = LayerNorm.builder(4).groupCount(2).build();

  /** What all calls take, for three rows. Each call takes its own; a test makes one of them bad. */
  private static final class Operands {
    Rows x = Rows.of(new double[12], 4);
    Rows y = Rows.of(new double[12], 4);
    double[] sums;
    long columns = 4;
    double[] mean;
    double[] rstd;

    Operands(Norm norm) {
      int n = 3 * norm.groups;
      boolean centred = norm.spec().isCentred();
      sums = new double[centred ? 2 * n : n];
      mean = centred ? new double[n] : null;
      rstd = new double[n];
    }

    RowStatistics statistics() {
      return rstd == null
          ? null
          : mean == null ? RowStatistics.of(rstd) : RowStatistics.of(mean, rstd);
    }
  }

  private enum Call {
    STATISTICS,
    SUMS,
    OF_SUMS,
    APPLY;

    void on(Norm norm, Operands o) {
      switch (this) {
        case STATISTICS -> norm.statistics(o.x, o.statistics());
        case SUMS -> norm.sums(o.x, o.sums);
        case OF_SUMS -> norm.statistics(o.sums, o.columns, o.statistics());
        case APPLY -> norm.apply(o.x, o.statistics(), o.y);
      }
    }
  }

  private static final List<Call> ALL = List.of(Call.values());
  private static final List<Call> OF_X = List.of(Call.STATISTICS, Call.SUMS, Call.APPLY);
  private static final List<Call> OF_NUMBERS = List.of(Call.STATISTICS, Call.OF_SUMS, Call.APPLY);
  private static final List<Call> STATISTICS = List.of(Call.STATISTICS);
  private static final List<Call> WITH_SUMS = List.of(Call.SUMS, Call.OF_SUMS);
  private static final List<Call> SUMS = List.of(Call.SUMS);
  private static final List<Call> OF_SUMS = List.of(Call.OF_SUMS);
  private static final List<Call> APPLY = List.of(Call.APPLY);

  /** In the message NAME stands for the argument that the statistics are. */
  private static void refused(
      List<Call> calls, Norm norm, Consumer<Operands> fault, String message) {
    for (Call call : calls) {
      Operands operands = new Operands(norm);
      fault.accept(operands);
      double[][] written = {operands.sums, operands.mean, operands.rstd};
      for (double[] numbers : written) {
        Arrays.fill(numbers == null ? new double[0] : numbers, 7);
      }
      boolean isNull = message.endsWith("is null");
      assertThatThrownBy(() -> call.on(norm, operands))
          .isInstanceOf(isNull ? NullPointerException.class : IllegalArgumentException.class)
          .hasMessage(message.replace("NAME", call == Call.APPLY ? "given" : "into"));
      for (double[] numbers : written) {
        assertThat(numbers == null ? new double[] {7} : numbers).containsOnly(7);
      }
    }
  }

  @Test
  void operandsWithoutAFaultServe() {
    for (Norm norm : new Norm[] {RMS, LAYER, GROUPED}) {
      ALL.forEach(call -> call.on(norm, new Operands(norm)));
    }
  }

  @Test
  void arraysAndRowsThatDoNotFit() {
    refused(OF_X, RMS, o -> o.x = null, "x is null");
    refused(APPLY, RMS, o -> o.y = null, "y is null");
    refused(WITH_SUMS, RMS, o -> o.sums = null, "sums is null");
    refused(OF_NUMBERS, RMS, o -> o.rstd = null, "NAME is null");
    Rows wide = Rows.of(new double[15], 5);
    refused(OF_X, RMS, o -> o.x = wide, "x has rows 5 wide, the norm is 4 wide");
    Rows two = Rows.of(new double[8], 4);
    refused(APPLY, RMS, o -> o.y = two, "y has 2 rows, x has 3: they must be the same");
    String noMean = "NAME has a mean, of RmsNorm(4, rmsnorm) it must have rstd alone";
    refused(OF_NUMBERS, RMS, o -> o.mean = new double[3], noMean);
    String mean = "NAME has no mean, of LayerNorm(4, layernorm) it must have mean and rstd";
    refused(OF_NUMBERS, LAYER, o -> o.mean = null, mean);
    String rstdRoom = "rstd has room for 2 rows, there are 3";
    refused(OF_NUMBERS, RMS, o -> o.rstd = new double[2], rstdRoom);
    refused(OF_NUMBERS, LAYER, o -> o.rstd = new double[2], rstdRoom);
    String meanRoom = "mean has room for 5 groups, there are 6";
    refused(OF_NUMBERS, GROUPED, o -> o.mean = new double[5], meanRoom);
    String count = "sums has 4 elements, it must have 3: 1 for each of 3 rows";
    refused(SUMS, RMS, o -> o.sums = new double[4], count);
    String ofGroups = "sums has 6 elements, it must have 12: 2 for each of 6 groups";
    refused(SUMS, GROUPED, o -> o.sums = new double[6], ofGroups);
    String ofLayer = "sums has 5 elements, it must have 2 for each row";
    refused(OF_SUMS, LAYER, o -> o.sums = new double[5], ofLayer);
    String four = "sums has 10 elements, it must have 4 for each row";
    refused(OF_SUMS, GROUPED, o -> o.sums = new double[10], four);
    String few = "columns is 3, of RmsNorm(4, rmsnorm) it must be at least 4, ";
    refused(OF_SUMS, RMS, o -> o.columns = 3, few + "the elements that it sums");
  }

  @Test
  void memoryThatIsShared() {
    double[] memory = new double[12];
    Rows rows = Rows.of(memory, 4);
    String own = ": each must be memory of its own";
    refused(OF_SUMS, RMS, o -> o.rstd = o.sums, "rstd overlaps sums" + own);
    refused(OF_SUMS, LAYER, o -> o.mean = o.sums, "mean overlaps sums" + own);
    for (String name : List.of("rstd", "mean")) {
      Norm norm = name.equals("rstd") ? RMS : LAYER;
      Consumer<Operands> array =
          o -> {
            o.rstd = norm == RMS ? memory : o.rstd;
            o.mean = norm == RMS ? null : memory;
          };
      refused(STATISTICS, norm, array.andThen(o -> o.x = rows), name + " overlaps x" + own);
      refused(APPLY, norm, array.andThen(o -> o.y = rows), name + " overlaps y" + own);
    }
    Norm each = RmsNorm.builder(4).groupCount(4).build();
    Consumer<Operands> sums = o -> o.sums = memory;
    refused(SUMS, each, sums.andThen(o -> o.x = rows), "sums overlaps x" + own);
    MemorySegment readOnly = MemorySegment.ofArray(memory).asReadOnly();
    Rows fixed = Rows.of(readOnly, ElementType.FLOAT64, 3, 4);
    refused(APPLY, RMS, o -> o.y = fixed, "y is read-only, it must be writable");
    assertThatThrownBy(() -> RowStatistics.of(memory, memory))
        .hasMessage("mean overlaps rstd" + own);
    assertThatThrownBy(() -> RowStatistics.of(null)).hasMessage("rstd is null");
    assertThatThrownBy(() -> RowStatistics.of(memory, null)).hasMessage("rstd is null");
    assertThatThrownBy(() -> RowStatistics.of(null, memory)).hasMessage("mean is null");
  }

  @Test
  void normsWithoutSuchCalls() {
    Norm gated = RmsNorm.builder(4).gate(Gate.SILU).build();
    refused(ALL, gated, o -> {}, "gate is silu, sums and statistics need a norm without a gate");
    Norm partial = RmsNorm.builder(4).partial(0.5).build();
    String part = "part is 1/2, of a norm with sums of columns it must be 1";
    refused(WITH_SUMS, partial, o -> {}, part);
    Norm ofType = NormSpec.parse("rmsnorm(eps=type)").builder(4).build();
    String epsilon = "epsilon is that of the type of the rows, of a norm with sums it must be ";
    refused(OF_SUMS, ofType, o -> {}, epsilon + "a number");
  }

  @Test
  void memoryThatCannotBeReached() {
    for (Call call : OF_X) {
      Operands operands = new Operands(RMS);
      try (Arena arena = Arena.ofConfined()) {
        operands.x = Rows.of(arena.allocate(96), ElementType.FLOAT64, 3, 4);
        call.on(RMS, operands);
        Throwable thrown =
            CompletableFuture.supplyAsync(() -> catchThrowable(() -> call.on(RMS, operands)))
                .orTimeout(1, TimeUnit.MINUTES)
                .join();
        assertThat(thrown).isInstanceOf(WrongThreadException.class);
      }
      assertThatThrownBy(() -> call.on(RMS, operands))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("x is in memory that has been closed");
    }
  }
}
