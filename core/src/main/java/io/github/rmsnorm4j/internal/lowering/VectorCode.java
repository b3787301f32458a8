package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_Class;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_float;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_short;
import static java.lang.constant.ConstantDescs.CD_void;

import io.github.rmsnorm4j.internal.codec.Power;
import io.github.rmsnorm4j.internal.kernel.Memory;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Locale;

/**
 * Calls of the Vector API. No method of this library takes or returns vectors: the JIT would have
 * to inline it, which it does not always do, and otherwise it boxes the vectors.
 *
 * <p>The JIT keeps a vector in a register only if it knows the vector's class. If the types do not
 * name the class, it assumes the classes that the call has met so far. Each class of vectors has
 * its own {@code lanewise} and {@code convertShape}. A kernel calls them itself, and such a call
 * meets one class. {@code add} calls {@code lanewise} as well, but from one place for all vectors
 * of the process, where the JIT has met many classes.
 */
final class VectorCode {
  private static final ClassDesc SPECIES = vector("VectorSpecies");
  private static final ClassDesc VECTOR = vector("Vector");
  private static final ClassDesc MASK = vector("VectorMask");
  static final ClassDesc FLOATS = vector("FloatVector");
  static final ClassDesc DOUBLES = vector("DoubleVector");
  static final ClassDesc INTS = vector("IntVector");
  private static final ClassDesc LONGS = vector("LongVector");
  static final ClassDesc SHORTS = vector("ShortVector");
  private static final ClassDesc OPERATORS = vector("VectorOperators");
  private static final ClassDesc CONVERSION = vector("VectorOperators$Conversion");
  private static final ClassDesc UNARY = vector("VectorOperators$Unary");
  private static final ClassDesc TERNARY = vector("VectorOperators$Ternary");
  private static final ClassDesc ASSOCIATIVE = vector("VectorOperators$Associative");
  private static final ClassDesc BINARY = vector("VectorOperators$Binary");
  private static final ClassDesc COMPARISON = vector("VectorOperators$Comparison");
  private static final ClassDesc SEGMENT = Code.desc(MemorySegment.class);
  private static final ClassDesc ORDER = Code.desc(ByteOrder.class);

  private final Code code;

  /** The number of calls so far. */
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

  /** The width in bits of a vector of so many elements. */
  static int bits(int elements, boolean float64) {
    return elements * (float64 ? Double.SIZE : Float.SIZE);
  }

  /** The class of vectors of float64, or of float32. */
  static ClassDesc of(boolean float64) {
    return float64 ? DOUBLES : FLOATS;
  }

  /** The type of an element. */
  private static ClassDesc element(ClassDesc vector) {
    return vector == FLOATS
        ? CD_float
        : vector == DOUBLES ? CD_double : vector == INTS ? CD_int : CD_short;
  }

  private VectorCode species(ClassDesc vector, int bits) {
    code.c.getstatic(vector, "SPECIES_" + bits, SPECIES);
    return this;
  }

  /** A method of the vector on the stack. */
  private VectorCode call(ClassDesc owner, String name, ClassDesc result, ClassDesc... parameters) {
    calls++;
    code.c.invokevirtual(owner, name, MethodTypeDesc.of(result, parameters));
    return this;
  }

  private void make(ClassDesc vector, String name, ClassDesc... parameters) {
    calls++;
    code.c.invokestatic(vector, name, MethodTypeDesc.of(vector, parameters));
  }

  /** A vector of zeros; a local. */
  int zero(int bits) {
    species(DOUBLES, bits).make(DOUBLES, "zero", SPECIES);
    return code.store();
  }

  /** A vector of the number that {@code scalar} leaves on the stack; a local. */
  int broadcast(ClassDesc vector, int bits, Runnable scalar) {
    species(vector, bits);
    scalar.run();
    make(vector, "broadcast", SPECIES, element(vector));
    exact(vector, bits);
    return code.store();
  }

  /** Loads a vector from an array; {@code address} leaves the array and an index on the stack. */
  void fromArray(ClassDesc vector, int bits, Runnable address) {
    species(vector, bits);
    address.run();
    make(vector, "fromArray", SPECIES, element(vector).arrayType(), CD_int);
  }

  /** Loads a vector from native memory; {@code address} leaves a long on the stack. */
  void fromMemory(ClassDesc vector, int bits, Runnable address) {
    species(vector, bits);
    place(address);
    make(vector, "fromMemorySegment", SPECIES, SEGMENT, CD_long, ORDER);
  }

  /** Stores the vector on the stack in an array. */
  void intoArray(ClassDesc vector, Runnable address) {
    address.run();
    call(vector, "intoArray", CD_void, element(vector).arrayType(), CD_int);
  }

  /** Stores the vector on the stack in native memory. */
  void intoMemory(ClassDesc vector, Runnable address) {
    place(address);
    call(vector, "intoMemorySegment", CD_void, SEGMENT, CD_long, ORDER);
  }

  private void place(Runnable address) {
    code.c.getstatic(Code.desc(Memory.Native.class), "EVERYTHING", SEGMENT);
    address.run();
    code.call(ByteOrder.class, "nativeOrder", ORDER);
  }

  /**
   * Tells the JIT the class of the vector on the stack. Inside a loop the JIT does not know the
   * class of a vector that was broadcast before the loop, or of a sum that the loop changes.
   */
  VectorCode exact(ClassDesc vector, int bits) {
    String name = element(vector).displayName().toUpperCase(Locale.ROOT) + "S_" + bits;
    code.c.getstatic(Code.desc(VectorClasses.class), name, CD_Class).swap();
    code.c
        .invokevirtual(CD_Class, "cast", MethodTypeDesc.of(CD_Object, CD_Object))
        .checkcast(vector);
    return this;
  }

  /**
   * The vector on the stack with as many lanes of another type.
   *
   * @param conversion such as F2D
   */
  VectorCode cast(String conversion, ClassDesc to, int bits) {
    code.c.getstatic(OPERATORS, conversion, CONVERSION);
    species(to, bits).code.c.iconst_0();
    call(VECTOR, "convertShape", VECTOR, CONVERSION, SPECIES, CD_int).code.c.checkcast(to);
    return this;
  }

  /** The bits of the vector on the stack as another type. */
  VectorCode reinterpret(ClassDesc to, int bits) {
    species(to, bits).code.c.iconst_0();
    call(VECTOR, "reinterpretShape", VECTOR, SPECIES, CD_int).code.c.checkcast(to);
    return this;
  }

  /** The vector on the stack, and one of a local, such as ADD. */
  VectorCode with(ClassDesc vector, String operator, int other) {
    code.c.getstatic(OPERATORS, operator, kind(operator)).aload(other);
    return call(vector, "lanewise", vector, BINARY, VECTOR);
  }

  private static ClassDesc kind(String operator) {
    return switch (operator) {
      case "SUB", "DIV", "LSHL", "LSHR", "ASHR" -> BINARY;
      default -> ASSOCIATIVE;
    };
  }

  /** The vector on the stack times one of a local, plus another one. */
  VectorCode fused(ClassDesc vector, int bits, int factor, int sum) {
    code.c.getstatic(OPERATORS, "FMA", TERNARY).aload(factor).aload(sum);
    exact(vector, bits);
    return call(vector, "lanewise", vector, TERNARY, VECTOR, VECTOR);
  }

  /** The square root of the vector on the stack. */
  VectorCode root() {
    code.c.getstatic(OPERATORS, "SQRT", UNARY);
    return call(DOUBLES, "lanewise", DOUBLES, UNARY);
  }

  /** The ints on the stack and a constant. */
  VectorCode ints(String operator, int number) {
    code.c.getstatic(OPERATORS, operator, kind(operator)).loadConstant(number);
    return call(INTS, "lanewise", INTS, BINARY, CD_int);
  }

  /** {@link Power} of the vector on the stack. */
  void power(boolean float64, int bits) {
    if (float64) {
      reinterpret(LONGS, bits).longs("LSHL", Power.DOUBLE_BITS).longs("ADD", Power.DOUBLE_ONE);
      reinterpret(DOUBLES, bits);
    } else {
      reinterpret(INTS, bits).ints("LSHL", Power.FLOAT_BITS).ints("ADD", Power.FLOAT_ONE);
      reinterpret(FLOATS, bits);
    }
  }

  private VectorCode longs(String operator, long number) {
    code.c.getstatic(OPERATORS, operator, kind(operator)).loadConstant(number);
    return call(LONGS, "lanewise", LONGS, BINARY, CD_long);
  }

  /** A mask of the ints on the stack that are above a constant. */
  VectorCode above(int number) {
    code.c.getstatic(OPERATORS, "GT", COMPARISON).loadConstant(number);
    return call(INTS, "compare", MASK, COMPARISON, CD_int);
  }

  /** The ints below the mask on the stack; where it is set, those of a local. */
  VectorCode blend(int other) {
    code.load(other).c.swap();
    return call(INTS, "blend", INTS, VECTOR, MASK);
  }

  /** The least number of the vector on the stack. */
  void least() {
    code.c.getstatic(OPERATORS, "MIN", ASSOCIATIVE);
    call(DOUBLES, "reduceLanes", CD_double, ASSOCIATIVE);
  }
}
