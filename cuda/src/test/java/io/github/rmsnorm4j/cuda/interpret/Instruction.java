package io.github.rmsnorm4j.cuda.interpret;

/**
 * One instruction, decoded.
 *
 * @param kind what is done
 * @param guard the predicate register on which it depends; -1 for none
 * @param negated whether it is done where the predicate does not hold
 * @param results registers that it writes
 * @param operands registers that it reads
 * @param number an offset in bytes, the target of a branch, or the distance of a shuffle
 * @param type of a number in memory
 * @param operation of a computation
 * @param line in the text
 * @param text as it was written
 */
record Instruction(
    Kind kind,
    int guard,
    boolean negated,
    int[] results,
    int[] operands,
    int number,
    Type type,
    Operation operation,
    int line,
    String text) {
  enum Kind {
    COMPUTE,
    /** Registers from the parts of another one. */
    UNPACK,
    PACK,
    LOAD_PARAMETER,
    LOAD_GLOBAL,
    LOAD_SHARED,
    STORE_GLOBAL,
    STORE_SHARED,
    BRANCH,
    SHUFFLE_DOWN,
    SHUFFLE_INDEX,
    SHUFFLE_BUTTERFLY,
    BARRIER,
    WARP_BARRIER,
    RETURN
  }

  PtxFault fault(String what) {
    return new PtxFault("line " + line + ", " + text + ": " + what);
  }

  /** The name of the operation, without operands. */
  String name() {
    String bare = text.startsWith("@") ? text.substring(text.indexOf(' ') + 1) : text;
    return bare.split("[ ;]", 2)[0];
  }
}
