package io.github.rmsnorm4j.internal.lowering.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;

/** Instructions of a kernel that none of several runs has reached. */
final class Unreached {
  /** Null before the first run. */
  private Set<String> lines;

  /** Of rows of any width: those of one run have not reached every instruction. */
  void after(Target target, InterpretedKernel run) {
    if (target.width() > 0) {
      return;
    }
    if (lines == null) {
      lines = new HashSet<>(run.unreached());
    } else {
      lines.retainAll(run.unreached());
    }
  }

  /** Requires that so many are left. */
  void require(int left, String what) {
    assertThat(lines).as("not reached in " + what).hasSize(left);
  }
}
