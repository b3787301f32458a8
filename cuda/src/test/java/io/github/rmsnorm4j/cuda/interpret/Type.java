package io.github.rmsnorm4j.cuda.interpret;

/** Types of registers and operands. A type of bits agrees with every type of its size. */
enum Type {
  PRED('p', 0),
  /** Of memory only; a register has 32 bits. */
  U8('u', 1),
  B16('b', 2),
  U16('u', 2),
  F16('f', 2),
  B32('b', 4),
  U32('u', 4),
  S32('s', 4),
  F32('f', 4),
  B64('b', 8),
  U64('u', 8),
  F64('f', 8);

  private final char kind;
  final int bytes;

  Type(char kind, int bytes) {
    this.kind = kind;
    this.bytes = bytes;
  }

  static Type of(String name) {
    for (Type type : values()) {
      if (type.name().equalsIgnoreCase(name)) {
        return type;
      }
    }
    throw new PtxFault("unknown type ." + name);
  }

  /** Whether a register of this type may be an operand of another one. */
  boolean agreesWith(Type operand) {
    boolean bits = kind == 'b' || operand.kind == 'b';
    if (operand == U8) {
      return this == B32;
    }
    return bytes == operand.bytes && (kind == operand.kind || bits);
  }

  /** The bits that a register of this type has. */
  long cut(long bits) {
    return bytes == 0 || bytes == 8 ? bits : bits & (1L << 8 * bytes) - 1;
  }

  boolean isFloat() {
    return kind == 'f';
  }
}
