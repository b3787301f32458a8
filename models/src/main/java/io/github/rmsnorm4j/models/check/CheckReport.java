package io.github.rmsnorm4j.models.check;

import java.util.List;

/**
 * Which norms made Y.
 *
 * @param status how much is known
 * @param verdict the same in sentences
 * @param named the norms that make every element, likeliest first; none if there is none
 * @param others other norms for comparison, the best of each change; without a named norm the best
 * @param leastEpsilon the least epsilon with which the first norm makes every element; NaN if none
 *     is named
 * @param greatestEpsilon the greatest; infinite if rows are too large to limit it
 * @param rows rows that were compared
 * @param width elements per row
 * @param notFinite rows that were left out because they hold NaN or infinity
 * @param zero rows that were left out because they are zero
 * @param outOfRange rows that were left out because their squares leave the range of float32
 * @param contradicting rows that were left out, and of which no norm makes this Y: Y is not finite,
 *     or X is zero and Y is not the bias
 * @param unchanged whether every row of Y that was compared is that of X
 * @param window how many ulp the rstd of the first norm could be from the exact one; 0 without one
 */
public record CheckReport(
    Status status,
    List<String> verdict,
    List<Finding> named,
    List<Finding> others,
    double leastEpsilon,
    double greatestEpsilon,
    int rows,
    int width,
    int notFinite,
    int zero,
    int outOfRange,
    int contradicting,
    boolean unchanged,
    long window) {
  /** How much is known. */
  public enum Status {
    /** One norm makes every element. */
    RECOGNISED,
    /** More than one does, and these rows do not tell them apart. */
    CANNOT_TELL,
    /** None does, or some rows contradict, or Y is X itself. */
    UNKNOWN
  }
}
