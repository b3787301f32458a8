package io.github.rmsnorm4j.models.check;

import java.util.List;

/**
 * How much of quantised rows one norm makes.
 *
 * @param norm the norm in words
 * @param spec the text of its {@link io.github.rmsnorm4j.NormSpec}
 * @param rules the names of the rules with these figures
 * @param equalCodes how many codes are equal to those of Y
 * @param codes how many codes were compared
 * @param equalScales how many scales are equal to those of Y; with the sums of their codes, for
 *     types that have such
 * @param scales how many scales were compared
 * @param largestStep the largest difference of two codes, in codes
 */
public record QuantizedFinding(
    String norm,
    String spec,
    List<String> rules,
    long equalCodes,
    long codes,
    long equalScales,
    long scales,
    int largestStep) {

  /** {@return the rules in one line} */
  public String rulesText() {
    return String.join(", ", rules);
  }
}
