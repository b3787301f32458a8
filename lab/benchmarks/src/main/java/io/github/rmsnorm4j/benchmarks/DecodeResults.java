package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.benchmarks.DecodeTable.Column;
import io.github.rmsnorm4j.measure.Machine;
import java.util.List;
import java.util.Map;

/**
 * What {@code rmsnorm bench --decode} measured.
 *
 * @param date when, as 2026-01-31
 * @param commit of the sources, or null if it is not known
 * @param machine what on
 * @param calls the kinds of calls, in their order
 */
public record DecodeResults(String date, String commit, Machine machine, List<Call> calls) {
  /**
   * A kind of call in fresh JVMs.
   *
   * @param title such as {@code RMSNorm 2048}
   * @param starts what normalizes in a JVM, the plain loop first
   */
  public record Call(String title, List<Start> starts) {}

  /**
   * JVMs in which the same normalizes.
   *
   * @param title such as {@code without flags}
   * @param rounds the times of each JVM, in milliseconds
   */
  public record Start(String title, List<Map<Column, Double>> rounds) {}
}
