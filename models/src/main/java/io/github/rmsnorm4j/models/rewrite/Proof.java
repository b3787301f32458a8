package io.github.rmsnorm4j.models.rewrite;

import java.util.List;
import java.util.Optional;

/**
 * A comparison of the model with the result, both as they are stored.
 *
 * @param findings what was compared, norm by norm and tensor by tensor
 * @param whole the logits of the whole model; empty if it cannot be run
 * @param notRun why the whole model was not run; empty if it was
 */
public record Proof(List<Finding> findings, Optional<WholeModel> whole, String notRun) {

  /** Copies the list. */
  public Proof {
    findings = List.copyOf(findings);
  }

  /** {@return whether each finding holds, and the logits do if there are any} */
  public boolean holds() {
    return findings.stream().allMatch(Finding::holds) && whole.map(WholeModel::holds).orElse(true);
  }
}
