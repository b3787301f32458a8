package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.rmsnorm4j.OperandMemory.Fault;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each fault of each operand of each call, and each two operands that share memory. A call is
 * refused in one line and has written nothing, or it is legal and done. Kernels read and write
 * without checks: nothing later would notice.
 */
class CallOperandsTest {
  private static final int WIDTH = OperandMemory.WIDTH;

  /** The operands that are written, and what each may be the same rows as. */
  private static final Map<String, List<String>> WRITTEN =
      Map.of(
          "residual", List.of(),
          "y", List.of("x", "z"),
          "q", List.of(),
          "mean", List.of(),
          "rstd", List.of(),
          "dx", List.of("dy", "dresidual"),
          "dz", List.of("dy"),
          "dgain", List.of(),
          "dbias", List.of());

  /**
   * What a call says of one bad operand: nothing if it is legal, null if there is no such fault.
   */
  private static String said(OperandCall call, String operand, Fault fault, ElementType type) {
    String name = OperandCall.title(operand);
    boolean isParameter = name.equals("gain") || name.equals("bias");
    boolean isRows = !name.equals("q") && !operand.equals(call.base());
    boolean isFixed = call.isFixed(operand);
    String is = name.equals("q") ? operand + " of q are" : name + " is";
    if (OperandMemory.isNumbers(operand)
        || call.kind() == OperandCall.Kind.FORWARD_OF_ARRAYS && fault != Fault.NULL
        || (isFixed || operand.equals("scales")) && fault.compareTo(Fault.READ_ONLY) < 0
        || isFixed && fault == Fault.READ_ONLY) {
      return null;
    }
    return switch (fault) {
      case NULL -> call.mayLack(name) ? "" : name + " is null";
      case WIDTH ->
          isParameter
              ? name + " has 1 x 9 elements, the rows are 8 wide"
              : name + " has rows 9 wide, the norm is 8 wide";
      case ROWS ->
          isParameter
              ? name + " has 2 rows, x has 1: it must have 1, or a number that divides 1"
              : operand.equals(call.base())
                  ? null
                  : name + " has 2 rows, " + call.base() + " has 1: they must be the same";
      case ARITHMETIC ->
          !isRows
              ? null
              : isParameter || name.equals("y") && call.keep() != Keep.OUTPUT
                  ? ""
                  : (name + " is " + OperandMemory.other(type) + ", " + call.base() + " is " + type)
                      + ": both must be float64, or neither";
      case READ_ONLY ->
          WRITTEN.containsKey(name)
              ? is + " read-only, " + (name.equals("q") ? "they" : "it") + " must be writable"
              : "";
      case CLOSED -> is + " in memory that has been closed";
      case CONFINED -> is + " in memory that is confined to another thread";
    };
  }

  /** What a call says of two operands, b after a, that share memory; nothing if that is legal. */
  private static String said(OperandCall call, String a, String b, boolean isSame) {
    if (a.equals("codes")) {
      return "codes of q overlap its scales: each must be memory of its own";
    }
    String written = OperandCall.title(WRITTEN.containsKey(OperandCall.title(b)) ? b : a);
    String other = OperandCall.title(WRITTEN.containsKey(OperandCall.title(b)) ? a : b);
    if (!WRITTEN.containsKey(written)) {
      return "";
    }
    String overlaps = written + " overlaps " + other + ": ";
    if (!WRITTEN.get(written).contains(other)) {
      return overlaps + "each must be memory of its own";
    }
    if (!isSame) {
      return overlaps + "they must be the same rows, or share no memory";
    }
    boolean mayKeepOutput = !call.has("z") && call.kind() != OperandCall.Kind.PAIR;
    return written.equals("y") && call.keeps(other)
        ? ("y is " + other + ", but the input is to be kept: ")
            + (mayKeepOutput ? "keep the output, or write elsewhere" : "write elsewhere")
        : "";
  }

  private int refused;
  private int served;

  private void check(
      OperandCall call, OperandMemory m, boolean byAnother, String said, String what) {
    Map<String, String> before = m.bytes();
    Throwable thrown =
        byAnother
            ? CompletableFuture.supplyAsync(() -> catchThrowable(() -> call.on(m)))
                .orTimeout(1, TimeUnit.MINUTES)
                .join()
            : catchThrowable(() -> call.on(m));
    if (said.isEmpty()) {
      assertThat(thrown).as("%s, %s", call, what).isNull();
      served++;
      return;
    }
    Class<?> type =
        said.endsWith("is null")
            ? NullPointerException.class
            : said.endsWith("closed")
                ? IllegalStateException.class
                : said.endsWith("thread")
                    ? WrongThreadException.class
                    : IllegalArgumentException.class;
    assertThat(thrown).as("%s, %s", call, what).hasMessage(said).isExactlyInstanceOf(type);
    assertThat(m.bytes()).as("%s, %s", call, what).isEqualTo(before);
    refused++;
  }

  /** All rows begin with the same bytes, so what is computed in place is what it is elsewhere. */
  private static void requireResultsOfApart(
      OperandCall call, OperandMemory m, OperandMemory apart) {
    call.prepare(apart);
    call.on(apart);
    for (String operand : call.operands()) {
      if (WRITTEN.containsKey(OperandCall.title(operand))) {
        assertThat(m.bytes(operand)).as("%s, %s", call, operand).isEqualTo(apart.bytes(operand));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "FLOAT32, false, 2099, 909",
    "FLOAT32, true, 2010, 904",
    "FLOAT64, false, 2114, 904",
    "FLOAT64, true, 2042, 904"
  })
  void areChecked(ElementType type, boolean isNative, int wantedRefused, int wantedServed) {
    List<OperandCall> calls = OperandCall.all("");
    calls.addAll(OperandCall.all(", gain, bias"));
    if (type == ElementType.FLOAT32 && !isNative) {
      calls.addAll(OperandCall.ofArrays());
    }
    try (Arena arena = Arena.ofShared()) {
      for (OperandCall call : calls) {
        for (int i = 0; i < call.operands().size(); i++) {
          String operand = call.operands().get(i);
          for (Fault fault : Fault.values()) {
            fault(call, type, isNative ? arena : null, operand, fault);
          }
          for (int k = i + 1; k < call.operands().size(); k++) {
            overlap(call, type, isNative ? arena : null, operand, call.operands().get(k), true);
            overlap(call, type, isNative ? arena : null, operand, call.operands().get(k), false);
          }
        }
      }
    }
    assertThat(calls).hasSize(isNative || type == ElementType.FLOAT64 ? 58 : 61);
    assertThat(refused).as("refused").isEqualTo(wantedRefused);
    assertThat(served).as("served").isEqualTo(wantedServed);
  }

  private void fault(OperandCall call, ElementType type, Arena arena, String operand, Fault fault) {
    String said = said(call, operand, fault, type);
    if (said == null) {
      return;
    }
    OperandMemory m = new OperandMemory(type, arena, call.keep(), call.operands(), 20);
    try (Arena own = fault == Fault.CONFINED ? Arena.ofConfined() : Arena.ofShared()) {
      m.spoil(operand, fault, own);
      call.prepare(m);
      if (fault == Fault.CONFINED) {
        check(call, m, false, "", operand + " confined to this thread");
      }
      if (fault != Fault.CLOSED) {
        check(call, m, fault == Fault.CONFINED, said, operand + " " + fault);
      }
    }
    if (fault == Fault.CLOSED) {
      check(call, m, false, said, operand + " " + fault);
    }
  }

  private void overlap(
      OperandCall call, ElementType type, Arena arena, String a, String b, boolean isSame) {
    boolean isOfNumbers = OperandMemory.isNumbers(a) || OperandMemory.isNumbers(b);
    boolean isFixed = call.isFixed(a) || call.isFixed(b);
    if (call.isFixed(a) && call.isFixed(b) || isOfNumbers && !isSame) {
      return;
    }
    int room = isOfNumbers ? WIDTH : 2 * WIDTH;
    OperandMemory m = new OperandMemory(type, arena, call.keep(), call.operands(), room);
    call.prepare(m);
    boolean movesB = !call.isFixed(b) && (!OperandMemory.isNumbers(b) || call.isFixed(a));
    if (m.place(movesB ? b : a, movesB ? a : b, isSame ? 0 : Float.BYTES)) {
      String said = said(call, a, b, isSame);
      check(call, m, false, said, a + " and " + b + ", same " + isSame);
      if (said.isEmpty() && isSame && !isOfNumbers && !isFixed) {
        requireResultsOfApart(
            call, m, new OperandMemory(type, arena, call.keep(), call.operands(), room));
      }
    }
  }
}
