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
      if (OperandRules.mayBeWritten(operand)) {
        assertThat(m.bytes(operand)).as("%s, %s", call, operand).isEqualTo(apart.bytes(operand));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "FLOAT32, false, 2246, 989",
    "FLOAT32, true, 2157, 984",
    "FLOAT64, false, 2261, 984",
    "FLOAT64, true, 2189, 984"
  })
  void areChecked(ElementType type, boolean isNative, int wantedRefused, int wantedServed) {
    List<OperandCall> calls = OperandCall.all("");
    calls.addAll(OperandCall.all(", gain, bias"));
    calls.addAll(OperandCall.ofNone());
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
    assertThat(calls).hasSize(isNative || type == ElementType.FLOAT64 ? 65 : 68);
    assertThat(refused).as("refused").isEqualTo(wantedRefused);
    assertThat(served).as("served").isEqualTo(wantedServed);
  }

  private void fault(OperandCall call, ElementType type, Arena arena, String operand, Fault fault) {
    String said = OperandRules.said(call, operand, fault, type);
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
      String said = OperandRules.said(call, a, b, isSame);
      check(call, m, false, said, a + " and " + b + ", same " + isSame);
      if (said.isEmpty() && isSame && !isOfNumbers && !isFixed) {
        requireResultsOfApart(
            call, m, new OperandMemory(type, arena, call.keep(), call.operands(), room));
      }
    }
  }
}
