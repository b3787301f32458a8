package io.github.rmsnorm4j.internal.lowering;

import io.github.rmsnorm4j.internal.kernel.Frame;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/**
 * The methods of a class of loops. They are called through method handles that are fields, so the
 * JIT compiles each loop by itself, and does not inline it.
 */
final class Loops {
  private final MethodHandle numbers;

  /** Null if terms are saved first, and then added. */
  private final MethodHandle lanes;

  private final MethodHandle sums;

  private final MethodHandle[] rounds;

  Loops(LoopPlan plan, MethodHandles.Lookup lookup) {
    int count = plan.stage().hasElements() ? plan.rounds().size() : 0;
    numbers = HiddenClass.method(lookup, "numbers", boolean.class, 1, 2);
    lanes =
        plan.terms() > 0 ? HiddenClass.method(lookup, "lanes", void.class, 1, LaneLoop.INTS) : null;
    sums =
        plan.terms() > 0 ? HiddenClass.method(lookup, "sums", void.class, 1, LaneLoop.INTS) : null;
    rounds = new MethodHandle[count];
    for (int r = 0; r < count; r++) {
      rounds[r] = HiddenClass.method(lookup, "loop" + r, void.class, 1, SavingLoop.INTS);
    }
  }

  boolean hasLanes() {
    return lanes != null;
  }

  /** Keeps the numbers of rows; returns whether all of them are in range. */
  boolean numbers(Frame frame, int from, int to) {
    try {
      return (boolean) numbers.invokeExact(frame, from, to);
    } catch (Throwable e) {
      throw HiddenClass.thrown(e);
    }
  }

  /**
   * Adds elements of a row to the lanes of its sums: the caller's, or those of the strips.
   *
   * @param to the end; a multiple of 32 elements after the first one
   */
  void lanes(Frame frame, int row, int from, int to, boolean direct) {
    try {
      lanes.invokeExact(frame, direct ? LoopCode.ROWS : 0, row, row + 1, from, to);
    } catch (Throwable e) {
      throw HiddenClass.thrown(e);
    }
  }

  /** Sums rows of n elements in arrays of the caller: one block of whole lanes. */
  void sums(Frame frame, int rows, int n) {
    try {
      sums.invokeExact(frame, LoopCode.ROWS, 0, rows, 0, n);
    } catch (Throwable e) {
      throw HiddenClass.thrown(e);
    }
  }

  /**
   * Computes and saves values of n elements of a row in strips.
   *
   * @param at the first index of all arrays
   */
  void loop(int round, Frame frame, int row, int at, int n) {
    try {
      rounds[round].invokeExact(frame, 0, row, row + 1, at, at, n);
    } catch (Throwable e) {
      throw HiddenClass.thrown(e);
    }
  }

  /**
   * Computes and saves values of n elements of rows in arrays of the caller.
   *
   * @param columns whether columns are the caller's arrays, too, and not strips
   * @param at the first index of arrays with rows
   * @param column the first index of other arrays
   */
  void direct(Frame frame, boolean columns, int row, int toRow, int at, int column, int n) {
    int direct = columns ? LoopCode.ROWS | LoopCode.COLUMNS : LoopCode.ROWS;
    try {
      rounds[0].invokeExact(frame, direct, row, toRow, at, column, n);
    } catch (Throwable e) {
      throw HiddenClass.thrown(e);
    }
  }
}
