package io.github.rmsnorm4j;

import io.github.rmsnorm4j.OperandMemory.Fault;
import java.util.List;
import java.util.Map;

/** What calls say of one bad operand, and of two that share memory. */
final class OperandRules {
  /** The operands that are written, and what each may be the same rows as. */
  private static final Map<String, List<String>> WRITTEN =
      Map.of(
          "residual", List.of(),
          "y", List.of("x", "z"),
          "q", List.of(),
          "mean", List.of(),
          "rstd", List.of(),
          "sums", List.of(),
          "dx", List.of("dy", "dresidual"),
          "dz", List.of("dy"),
          "dgain", List.of(),
          "dbias", List.of());

  private OperandRules() {}

  private static boolean isWritten(OperandCall call, String operand) {
    String name = OperandCall.title(operand);
    return WRITTEN.containsKey(name)
        && !(name.equals("q") && call.kind() == OperandCall.Kind.DEQUANTIZE);
  }

  /** What a call says of an array of numbers that is null or too short. */
  private static String saidOfNumbers(OperandCall call, String operand, Fault fault) {
    boolean isGradient = operand.startsWith("d");
    String name = OperandCall.title(operand);
    boolean isSums = call.has("sums");
    if (call.isFixed(operand) || fault != Fault.NULL && fault != Fault.SHORT) {
      return null;
    } else if (fault == Fault.NULL) {
      return isGradient ? "" : call.kind() == OperandCall.Kind.FORWARD ? null : name + " is null";
    } else if (isGradient) {
      boolean isFirst = name.equals("dgain") && !call.has("gain");
      return name
          + " has 7 elements, "
          + (isFirst ? "the rows are 8 wide" : "it must have as many as the other parameters, 8");
    } else if (name.equals("sums")) {
      boolean ofRows = call.kind() == OperandCall.Kind.SUMS;
      return "sums has 7 elements, it must have 8"
          + (ofRows ? ": 2 for each of 4 groups" : " for each row");
    }
    return name + " has room for 0 " + (isSums ? "groups, there are 4" : "rows, there are 1");
  }

  /** What is said of codes and their rows, of which one has another width or number of rows. */
  private static String saidOfShape(OperandCall call, String operand, Fault fault) {
    String first = call.has("x") ? "q" : "y";
    String second = call.has("x") ? "x" : "q";
    boolean isFirst = OperandCall.title(operand).equals(first);
    String said =
        fault == Fault.WIDTH ? "%s has rows %d wide, %s is %d wide" : "%s has %d rows, %s has %d";
    int is = fault == Fault.WIDTH ? 8 : 1;
    return said.formatted(first, isFirst ? is + 1 : is, second, isFirst ? is : is + 1)
        + ": they must be the same";
  }

  /**
   * What a call says of one bad operand: nothing if it is legal, null if there is no such fault.
   */
  static String said(OperandCall call, String operand, Fault fault, ElementType type) {
    if (OperandMemory.isNumbers(operand)) {
      return saidOfNumbers(call, operand, fault);
    }
    String name = OperandCall.title(operand);
    boolean isOfCodes = call.isOfCodes();
    boolean isParameter = name.equals("gain") || name.equals("bias");
    boolean isRows = !name.equals("q") && !operand.equals(call.base());
    boolean isFixed = call.isFixed(operand);
    String is = name.equals("q") ? operand + " of q are" : name + " is";
    if (fault == Fault.SHORT
        || call.kind() == OperandCall.Kind.FORWARD_OF_ARRAYS && fault != Fault.NULL
        || call.kind() == OperandCall.Kind.DEQUANTIZE && name.equals("q") && fault == Fault.NULL
        || (isFixed || operand.equals("scales")) && fault.compareTo(Fault.READ_ONLY) < 0
        || isFixed && fault == Fault.READ_ONLY) {
      return null;
    }
    if (isOfCodes && (fault == Fault.WIDTH || fault == Fault.ROWS)) {
      return saidOfShape(call, operand, fault);
    }
    return switch (fault) {
      case SHORT -> null;
      case NULL -> call.mayLack(name) ? "" : name + " is null";
      case WIDTH ->
          isParameter
              ? name + " has 1 x 9 elements, the rows are 8 wide"
              : name + " has rows 9 wide, the norm is 8 wide";
      case ROWS ->
          isParameter
              ? name + " has 2 rows, x has 1: it must have 1, or a number that divides 1"
              : operand.equals(call.base())
                  ? null
                  : name + " has 2 rows, " + call.base() + " has 1: they must be the same";
      case ARITHMETIC ->
          !isRows
              ? null
              : isOfCodes || isParameter || name.equals("y") && call.keep() != Keep.OUTPUT
                  ? ""
                  : (name + " is " + OperandMemory.other(type) + ", " + call.base() + " is " + type)
                      + ": both must be float64, or neither";
      case READ_ONLY ->
          isWritten(call, operand)
              ? is + " read-only, " + (name.equals("q") ? "they" : "it") + " must be writable"
              : "";
      case CLOSED -> is + " in memory that has been closed";
      case CONFINED -> is + " in memory that is confined to another thread";
    };
  }

  /** What a call says of two operands, b after a, that share memory; nothing if that is legal. */
  static String said(OperandCall call, String a, String b, boolean isSame) {
    if (a.equals("codes")) {
      return isWritten(call, a)
          ? "codes of q overlap its scales: each must be memory of its own"
          : "";
    }
    String written = OperandCall.title(isWritten(call, b) ? b : a);
    String other = OperandCall.title(isWritten(call, b) ? a : b);
    if (!WRITTEN.containsKey(written)
        || b.startsWith("given") && !other.equals("y") && !a.startsWith("given")) {
      return "";
    }
    if (call.isOfStatistics() && written.equals("rstd") && other.equals("mean")) {
      return "mean overlaps rstd: each must be memory of its own";
    }
    String overlaps = written + " overlaps " + other + ": ";
    if (!WRITTEN.get(written).contains(other)) {
      return overlaps + "each must be memory of its own";
    }
    if (!isSame) {
      return overlaps + "they must be the same rows, or share no memory";
    }
    boolean mayKeepOutput = !call.has("z") && call.kind() != OperandCall.Kind.PAIR;
    return written.equals("y") && call.keeps(other)
        ? ("y is " + other + ", but the input is to be kept: ")
            + (mayKeepOutput ? "keep the output, or write elsewhere" : "write elsewhere")
        : "";
  }

  /** Whether any call writes an operand of this name. */
  static boolean mayBeWritten(String operand) {
    return WRITTEN.containsKey(OperandCall.title(operand));
  }
}
