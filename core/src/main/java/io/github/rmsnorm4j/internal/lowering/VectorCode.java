package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_short;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.rmsnorm4j.internal.kernel.Memory;
import java.lang.constant.ClassDesc;

/**
 * Calls of the Vector API. No method of ours takes or gives vectors: the JIT would have to inline
 * it, which it does not always do, and then puts them in boxes.
 */
final class VectorCode {
  static final ClassDesc SPECIES = vector("VectorSpecies");
  static final ClassDesc VECTOR = vector("Vector");
  static final ClassDesc MASK = vector("VectorMask");
  static final ClassDesc FLOATS = vector("FloatVector");
  static final ClassDesc DOUBLES = vector("DoubleVector");
  static final ClassDesc INTS = vector("IntVector");
  static final ClassDesc SHORTS = vector("ShortVector");
  private static final ClassDesc OPERATORS = vector("VectorOperators");
  private static final ClassDesc BINARY = vector("VectorOperators$Binary");
  private static final ClassDesc COMPARISON = vector("VectorOperators$Comparison");
  private static final ClassDesc SEGMENT = ClassDesc.of("java.lang.foreign.MemorySegment");
  private static final ClassDesc ORDER = ClassDesc.of("java.nio.ByteOrder");

  private final Code code;

  /** Calls so far. */
  private int calls;

  VectorCode(Code code) {
    this.code = code;
  }

  private static ClassDesc vector(String name) {
    return ClassDesc.of("jdk.incubator.vector." + name);
  }

  int calls() {
    return calls;
  }

  /** The type of an element. */
  static ClassDesc element(ClassDesc vector) {
    return vector == FLOATS
        ? CD_float
        : vector == DOUBLES ? CD_double : vector == INTS ? CD_int : CD_short;
  }

  VectorCode species(ClassDesc vector, int bits) {
    code.c.getstatic(vector, "SPECIES_" + bits, SPECIES);
    return this;
  }

  /** A method of the vector on the stack. */
  VectorCode call(ClassDesc owner, String name, ClassDesc result, ClassDesc... parameters) {
    calls++;
    code.c.invokevirtual(owner, name, Code.type(result, parameters));
    return this;
  }

  private void make(ClassDesc vector, String name, ClassDesc... parameters) {
    calls++;
    code.c.invokestatic(vector, name, Code.type(vector, parameters));
  }

  /** A vector of zeros; a local. */
  int zero(ClassDesc vector, int bits) {
    species(vector, bits);
    make(vector, "zero", SPECIES);
    return code.store();
  }

  /** A vector of the number that {@code scalar} leaves on the stack. */
  int broadcast(ClassDesc vector, int bits, Runnable scalar) {
    species(vector, bits);
    scalar.run();
    make(vector, "broadcast", SPECIES, element(vector));
    return code.store();
  }

  /** A vector of an array; what {@code address} leaves is the array and an index. */
  void fromArray(ClassDesc vector, int bits, Runnable address) {
    species(vector, bits);
    address.run();
    make(vector, "fromArray", SPECIES, element(vector).arrayType(), CD_int);
  }

  /** A vector of native memory; what {@code address} leaves is a long. */
  void fromMemory(ClassDesc vector, int bits, Runnable address) {
    species(vector, bits);
    everything();
    address.run();
    order();
    make(vector, "fromMemorySegment", SPECIES, SEGMENT, CD_long, ORDER);
  }

  /** The vector on the stack to an array. */
  void intoArray(ClassDesc vector, Runnable address) {
    address.run();
    call(vector, "intoArray", CD_void, element(vector).arrayType(), CD_int);
  }

  /** The vector on the stack to native memory. */
  void intoMemory(ClassDesc vector, Runnable address) {
    everything();
    address.run();
    order();
    call(vector, "intoMemorySegment", CD_void, SEGMENT, CD_long, ORDER);
  }

  private void everything() {
    code.c.getstatic(Code.desc(Memory.Native.class), "EVERYTHING", SEGMENT);
  }

  private void order() {
    String name =
        java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.LITTLE_ENDIAN
            ? "LITTLE_ENDIAN"
            : "BIG_ENDIAN";
    code.c.getstatic(ORDER, name, ORDER);
  }

  /** The vector on the stack with as many lanes of another type. */
  VectorCode cast(ClassDesc to, int bits) {
    species(to, bits);
    code.c.iconst_0();
    call(VECTOR, "castShape", VECTOR, SPECIES, CD_int);
    code.c.checkcast(to);
    return this;
  }

  /** The vector on the stack, and another one, by a method such as add. */
  VectorCode with(ClassDesc vector, String method, int other) {
    code.load(other);
    return call(vector, method, vector, VECTOR);
  }

  /** The vector on the stack, and a number. */
  VectorCode with(ClassDesc vector, String method, float number) {
    code.c.loadConstant(number);
    return call(vector, method, vector, CD_float);
  }

  /** The ints on the stack and a constant. */
  VectorCode ints(String operator, int number) {
    code.c.getstatic(OPERATORS, operator, kind(operator));
    code.c.loadConstant(number);
    return call(INTS, "lanewise", INTS, BINARY, CD_int);
  }

  /** The ints on the stack and those of a local. */
  VectorCode ints(String operator, int other, boolean vector) {
    code.c.getstatic(OPERATORS, operator, kind(operator)).aload(other);
    return call(INTS, "lanewise", INTS, BINARY, VECTOR);
  }

  private static ClassDesc kind(String operator) {
    return operator.contains("SH") ? BINARY : vector("VectorOperators$Associative");
  }

  /** A mask of the ints on the stack that are above a constant. */
  VectorCode above(int number) {
    code.c.getstatic(OPERATORS, "GT", COMPARISON).loadConstant(number);
    return call(INTS, "compare", MASK, COMPARISON, CD_int);
  }

  /** A mask of the floats on the stack that differ from those of a local. */
  VectorCode differs(int other) {
    code.c.getstatic(OPERATORS, "NE", COMPARISON).aload(other);
    return call(FLOATS, "compare", MASK, COMPARISON, VECTOR);
  }

  VectorCode floatsAsInts() {
    return call(FLOATS, "reinterpretAsInts", INTS);
  }

  VectorCode intsAsFloats() {
    return call(INTS, "reinterpretAsFloats", FLOATS);
  }
}
