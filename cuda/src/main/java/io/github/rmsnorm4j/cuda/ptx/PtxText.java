package io.github.rmsnorm4j.cuda.ptx;

import java.util.EnumMap;
import java.util.Map;

/** The text of a kernel while it is made: its instructions, registers and labels. */
final class PtxText {
  /** Kinds of virtual registers. A kernel may have any number; the driver's compiler maps them. */
  enum Kind {
    PREDICATE("p", "pred"),
    B16("h", "b16"),
    B32("r", "b32"),
    B64("l", "b64"),
    F32("f", "f32"),
    F64("d", "f64");

    private final String letter;
    private final String type;

    Kind(String letter, String type) {
      this.letter = letter;
      this.type = type;
    }
  }

  private final StringBuilder body = new StringBuilder();
  private final Map<Kind, Integer> registers = new EnumMap<>(Kind.class);
  private int labels;

  /** A register that nothing else uses. */
  String register(Kind kind) {
    int number = registers.merge(kind, 1, Integer::sum) - 1;
    return "%" + kind.letter + number;
  }

  /** A label that no other place has. */
  String label(String what) {
    return what + "_" + labels++;
  }

  /** Writes an instruction. */
  void put(String operation, String... operands) {
    body.append("  ").append(operation);
    if (operands.length > 0) {
      body.append(' ').append(String.join(", ", operands));
    }
    body.append(";\n");
  }

  /** Writes an instruction whose first operand is a new register, and returns the register. */
  String compute(Kind kind, String operation, String... operands) {
    String result = register(kind);
    String[] all = new String[operands.length + 1];
    all[0] = result;
    System.arraycopy(operands, 0, all, 1, operands.length);
    put(operation, all);
    return result;
  }

  /** A predicate from a comparison. */
  String test(String comparison, String a, String b) {
    return compute(Kind.PREDICATE, "setp." + comparison, a, b);
  }

  /** Continues at a label where a predicate holds. */
  void branchIf(String predicate, String label) {
    put("@" + predicate + " bra", label);
  }

  /** Continues at a label where a predicate does not hold. */
  void branchUnless(String predicate, String label) {
    put("@!" + predicate + " bra", label);
  }

  void branch(String label) {
    put("bra", label);
  }

  /** The place that branches to a label go to. */
  void mark(String label) {
    body.append(label).append(":\n");
  }

  /** A comment of one line. */
  void comment(String text) {
    body.append("  // ").append(text).append('\n');
  }

  /** A float32 constant. */
  static String literal(float number) {
    return "0f%08X".formatted(Float.floatToRawIntBits(number));
  }

  /** A float64 constant. */
  static String literal(double number) {
    return "0d%016X".formatted(Double.doubleToRawLongBits(number));
  }

  /** An address with a constant offset. */
  static String at(String address, int bytes) {
    return "[" + address + (bytes == 0 ? "" : "+" + bytes) + "]";
  }

  /** The declarations of all registers, and the instructions. */
  String body() {
    StringBuilder text = new StringBuilder();
    registers.forEach(
        (kind, count) ->
            text.append("  .reg .%s %%%s<%s>;\n".formatted(kind.type, kind.letter, count)));
    return text.append(body).toString();
  }
}
