package io.github.rmsnorm4j.internal.machine;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * One instruction. What it is and what it works on are data, so that its bytes, its text and an
 * interpreter are made of the same.
 *
 * @param operands the destination first, as in Intel's manuals
 * @param mask which elements of the destination are written, or which of two elements a blend
 *     chooses; null for all
 */
public record Instruction(Op op, List<MachineOperand> operands, MachineOperand.Mask mask)
    implements Line {
  /** What is done. */
  public sealed interface Op permits VectorOp, GeneralOp {
    String name();

    /** As assemblers call it. */
    default String mnemonic() {
      String name = name().toLowerCase(Locale.ROOT);
      return name.endsWith("_to") ? name.substring(0, name.length() - 3) : name;
    }

    /** What is written before memory whose size no other operand tells. */
    default String sizeInMemory() {
      return this == GeneralOp.MOVZX ? "word ptr " : "";
    }
  }

  /** Copies the list. */
  public Instruction {
    operands = List.copyOf(operands);
  }

  static Instruction of(Op op, MachineOperand... operands) {
    return new Instruction(op, List.of(operands), null);
  }

  @Override
  public String line() {
    String masked = mask == null ? "" : "{" + mask + "}";
    String list =
        operands.stream()
            .map(o -> o instanceof MachineOperand.InMemory ? op.sizeInMemory() + o : o.toString())
            .collect(Collectors.joining(", "));
    int end = list.indexOf(',') < 0 ? list.length() : list.indexOf(',');
    return ("  " + op.mnemonic() + " " + list.substring(0, end) + masked + list.substring(end))
        .stripTrailing();
  }
}
