package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_double;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Value;
import io.github.rmsnorm4j.internal.kernel.Frame;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.Locale;
import java.util.function.IntConsumer;

/**
 * Byte code of a method, and its listing: line n of the listing is line n of stack traces and
 * profiles.
 */
final class Code {
  static final ClassDesc FRAME = desc(Frame.class);
  static final ClassDesc TYPE = desc(ElementType.class);

  final CodeBuilder c;
  private final StringBuilder listing;
  private int line;
  private int locals;
  private int depth;

  /**
   * Begins a method.
   *
   * @param listing takes the lines of the method
   * @param locals the first free local variable
   */
  Code(CodeBuilder c, StringBuilder listing, int locals) {
    this.c = c;
    this.listing = listing;
    this.locals = locals;
    line = (int) listing.chars().filter(k -> k == '\n').count();
  }

  static ClassDesc desc(Class<?> type) {
    return type.describeConstable().orElseThrow();
  }

  /** Begins a line of the listing; the instructions that follow belong to it. */
  void line(String format, Object... values) {
    c.lineNumber(++line);
    String text = "  ".repeat(depth) + String.format(Locale.ROOT, format, values);
    listing.append(String.format(Locale.ROOT, "%4d  %s%n", line, text));
  }

  /** A mark of the local variables in use, to which they can be reset. */
  int mark() {
    return locals;
  }

  void release(int mark) {
    locals = mark;
  }

  /** A new local variable. */
  int local(TypeKind kind) {
    int local = locals;
    locals += kind.slotSize();
    return local;
  }

  /** A new local variable with the number on the stack. */
  int store(TypeKind kind) {
    int local = local(kind);
    c.storeLocal(kind, local);
    return local;
  }

  int storeInt() {
    return store(TypeKind.INT);
  }

  int storeLong() {
    return store(TypeKind.LONG);
  }

  /** A new local variable with the object on the stack. */
  int store() {
    return store(TypeKind.REFERENCE);
  }

  Code load(int local) {
    c.aload(local);
    return this;
  }

  /** A field of a frame. */
  Code field(int frame, String name, ClassDesc type) {
    c.aload(frame).getfield(FRAME, name, type);
    return this;
  }

  /** Leaves an element of an array field of a frame on the stack. */
  Code element(int frame, String name, ClassDesc component, int index) {
    field(frame, name, component.arrayType());
    c.loadConstant(index);
    c.arrayLoad(TypeKind.from(component));
    return this;
  }

  /** A static method. */
  Code call(Class<?> owner, String name, ClassDesc result, ClassDesc... parameters) {
    c.invokestatic(desc(owner), name, MethodTypeDesc.of(result, parameters));
    return this;
  }

  /** {@code for (i = from; i < to; i += step)}, of locals. */
  void loop(String name, int i, int to, int step, Runnable body) {
    line("for (; %s; %s += %d)", name + " < end", name, step);
    Label top = c.newBoundLabel();
    Label end = c.newLabel();
    c.iload(i).iload(to).if_icmpge(end);
    depth++;
    body.run();
    depth--;
    c.iinc(i, step).goto_(top).labelBinding(end);
  }

  /** A loop with a new local, which the body gets; the locals of the body are freed after it. */
  void loop(String name, int from, int to, int step, IntConsumer body) {
    c.iload(from);
    int i = storeInt();
    loop(
        name,
        i,
        to,
        step,
        () -> {
          int mark = mark();
          body.accept(i);
          release(mark);
        });
  }

  /** Leaves a number of a row or of the call on the stack; false for other values. */
  boolean number(int frame, int row, Value value) {
    switch (value.kind()) {
      case ROW -> {
        element(frame, "ofRow", CD_double.arrayType(), value.tensor().place());
        c.iload(row).daload();
      }
      case CALL -> element(frame, "ofCall", CD_double, value.tensor().place());
      default -> {
        return false;
      }
    }
    return true;
  }

  /** Leaves a type on the stack. */
  void type(ElementType type) {
    c.getstatic(TYPE, type.name(), TYPE);
  }

  /** Leaves a constant value on the stack. */
  void literal(Value value) {
    if (value.float64()) {
      c.loadConstant(value.number());
    } else {
      c.loadConstant((float) value.number());
    }
  }

  /** A new int local with a constant. */
  int constant(int value) {
    c.loadConstant(value);
    return storeInt();
  }
}
