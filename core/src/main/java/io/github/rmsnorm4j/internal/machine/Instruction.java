package io.github.rmsnorm4j.internal.machine;

import io.github.rmsnorm4j.internal.machine.MachineOperand.Mask;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One instruction. Operation and operands are data, from which its bytes and its text are made, and
 * which an interpreter runs.
 *
 * @param operands the operands, the destination first, as in Intel's manuals
 * @param mask the elements of the destination that are written, or the choice of a blend; null for
 *     all
 */
public record Instruction(Op op, List<MachineOperand> operands, @Nullable Mask mask)
    implements Line {
  /** The operation. */
  public sealed interface Op permits VectorOp, GeneralOp {
    String name();

    /** The name in assemblers. */
    default String mnemonic() {
      String name = name().toLowerCase(Locale.ROOT);
      return name.endsWith("_to") ? name.substring(0, name.length() - 3) : name;
    }

    /** The size that assemblers need before memory if no other operand has it. */
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
