package io.github.rmsnorm4j.checkpoint.rewrite;

import java.util.List;

/**
 * A comparison of the model with the result, both as they are stored.
 *
 * @param findings what was compared
 */
public record Proof(List<Finding> findings) {

  /** Copies the list. */
  public Proof {
    findings = List.copyOf(findings);
  }

  /**
   * Whether all differences are within their bounds.
   *
   * @return true if each finding holds
   */
  public boolean holds() {
    return findings.stream().allMatch(Finding::holds);
  }
}
