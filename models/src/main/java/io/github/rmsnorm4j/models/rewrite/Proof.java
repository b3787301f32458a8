package io.github.rmsnorm4j.models.rewrite;

import java.util.List;
import java.util.Optional;

/**
 * A comparison of the model with the result, both as they are stored.
 *
 * @param findings what was compared, norm by norm and tensor by tensor
 * @param whole the logits of the whole model; empty if it was not run
 * @param notRun why the whole model was not run; empty if it was
 */
public record Proof(List<Finding> findings, Optional<LogitsProof> whole, String notRun) {

  /** {@return the first thing that differs too much, and where; empty if nothing does} */
  public Optional<String> difference() {
    return findings.stream()
        .filter(finding -> !finding.holds())
        .map(finding -> finding.what() + ", most in " + finding.where())
        .findFirst()
        .or(() -> whole.filter(logits -> !logits.holds()).map(_ -> "logits"));
  }
}
