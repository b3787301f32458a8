package io.github.rmsnorm4j.internal.machine;

import java.util.List;

/**
 * Machine code that can run at any address.
 *
 * @param bytes the instructions, then the constants
 * @param lines the lines from which the bytes were made
 * @param constants the constants by label, in the order of the bytes
 */
public record Code(byte[] bytes, List<Line> lines, List<Assembler.Data> constants) {
  /** The text from which another assembler makes the same bytes. */
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
