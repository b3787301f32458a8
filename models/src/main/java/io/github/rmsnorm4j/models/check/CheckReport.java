package io.github.rmsnorm4j.models.check;

import java.util.List;

/**
 * Which norms made Y.
 *
 * @param status how much is known
 * @param verdict the same in sentences
 * @param named the norms that make every element, likeliest first; none if there is none
 * @param others other norms for comparison, the best of each change; without a named norm the best
 * @param rows rows that were compared
 * @param width elements per row
 * @param differingRows without a named norm, the rows in which the first of the others differs: the
 *     first and the last of each range, counted from 0, of 1,000 ranges at most
 * @param differingColumns the same of the columns
 */
public record CheckReport(
    Status status,
    List<String> verdict,
    List<Finding> named,
    List<Finding> others,
    long rows,
    int width,
    List<List<Long>> differingRows,
    List<List<Long>> differingColumns) {
  /** How much is known. */
  public enum Status {
    /** One norm makes every element. */
    RECOGNIZED,
    /** More than one does, and these rows do not tell them apart. */
    CANNOT_TELL,
    /** None does, or Y is X itself. */
    UNKNOWN;

    static Status of(int named) {
      return named == 0 ? UNKNOWN : named == 1 ? RECOGNIZED : CANNOT_TELL;
    }
  }
}
