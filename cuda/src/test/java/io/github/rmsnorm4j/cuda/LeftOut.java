package io.github.rmsnorm4j.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Kernels from which one instruction is left out, each in turn. */
final class LeftOut {
  private static final Pattern INSTRUCTION = Pattern.compile("  [a-z@][^/]*;");

  /** How many were left out. */
  int all;

  /** Those that nobody missed, with the numbers of their lines. */
  final List<String> unnoticed = new ArrayList<>();

  /** Leaves out each instruction of a kernel. */
  void each(String text, Predicate<String> isNoticed) {
    List<String> lines = List.of(text.split("\n"));
    for (int i = 0; i < lines.size(); i++) {
      if (INSTRUCTION.matcher(lines.get(i)).matches()) {
        all++;
        List<String> left = new ArrayList<>(lines);
        left.remove(i);
        if (!isNoticed.test(String.join("\n", left))) {
          unnoticed.add((i + 1) + ": " + lines.get(i).strip());
        }
      }
    }
  }
}
