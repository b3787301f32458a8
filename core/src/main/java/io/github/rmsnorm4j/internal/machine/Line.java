package io.github.rmsnorm4j.internal.machine;

import java.util.Locale;

/** A line of a listing: an instruction, a label or a comment. */
public sealed interface Line permits Instruction, MachineOperand.Label, Line.Comment {
  /** The line as an assembler reads it. */
  String line();

  /** A comment on the instructions after it. */
  record Comment(String format, Object... values) implements Line {
    @Override
    public String line() {
      return "  # " + String.format(Locale.ROOT, format, values).replace("\n", "\n  # ");
    }
  }
}
