package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_int;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.Listings;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A class of generated code and its listing, which is its source file in stack traces. */
final class HiddenClass {
  private static final AtomicInteger COUNT = new AtomicInteger();

  private final String name;
  private final StringBuilder listing = new StringBuilder();
  private final byte[] bytes;
  private ClassBuilder builder;

  /**
   * Writes the class.
   *
   * @param kind what its name begins with
   */
  HiddenClass(String kind, Consumer<HiddenClass> methods) {
    name = kind + "_" + COUNT.incrementAndGet();
    bytes =
        ClassFile.of()
            .build(
                ClassDesc.of(HiddenClass.class.getPackageName(), name),
                begun -> {
                  begun.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SYNTHETIC);
                  begun.with(SourceFileAttribute.of(name + ".txt"));
                  builder = begun;
                  methods.accept(this);
                });
  }

  /**
   * Writes a static method.
   *
   * @param frames parameters that are frames
   * @param ints parameters after them
   */
  void method(String method, ClassDesc result, int frames, int ints, Consumer<Code> body) {
    listing.append(method).append(":\n");
    ClassDesc[] parameters = new ClassDesc[frames + ints];
    Arrays.fill(parameters, CD_int);
    Arrays.fill(parameters, 0, frames, Code.FRAME);
    builder.withMethodBody(
        method,
        MethodTypeDesc.of(result, parameters),
        ClassFile.ACC_STATIC,
        c -> body.accept(new Code(c, listing, parameters.length)));
  }

  /** Writes the listing if that is asked for, and defines the class. */
  MethodHandles.Lookup define(List<Stage> stages) {
    Listings.write(name, listing, stages);
    try {
      return MethodHandles.lookup().defineHiddenClass(bytes, true);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("kernel " + name + " cannot be made", e);
    }
  }

  /** A static method of the class, with frames and then ints as parameters. */
  static MethodHandle method(
      MethodHandles.Lookup lookup, String name, Class<?> result, int frames, int ints) {
    Class<?>[] parameters = new Class<?>[frames + ints];
    Arrays.fill(parameters, int.class);
    Arrays.fill(parameters, 0, frames, Frame.class);
    MethodType type = MethodType.methodType(result, parameters);
    try {
      return lookup.findStatic(lookup.lookupClass(), name, type);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("kernel " + lookup.lookupClass() + " has no " + name, e);
    }
  }

  /** Rethrows the exception of a method; such methods throw no checked exceptions. */
  static RuntimeException thrown(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return (RuntimeException) e;
  }
}
