package io.github.rmsnorm4j.internal.machine;

import java.util.List;

/**
 * Machine code, ready to be run at any address.
 *
 * @param bytes the instructions, then the constants
 * @param lines what the bytes were made from
 * @param constants by label, in the order in which they lie behind the instructions
 */
public record Code(byte[] bytes, List<Line> lines, List<Assembler.Data> constants) {
  /** The text that another assembler makes the same bytes of. */
  public String listing() {
    StringBuilder text = new StringBuilder(".intel_syntax noprefix\n");
    lines.forEach(line -> text.append(line.line()).append('\n'));
    if (!constants.isEmpty()) {
      text.append(".balign ").append(Assembler.ALIGNMENT).append(", 0\n");
    }
    constants.forEach(data -> text.append(data.text()));
    return text.toString();
  }
}
