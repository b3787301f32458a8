package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_int;

import io.github.rmsnorm4j.internal.kernel.Frame;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.function.Consumer;

/** A class of generated code, whose source file is its listing. */
final class HiddenClass {
  private HiddenClass() {}

  /** Writes the class. */
  static byte[] bytes(String name, Consumer<ClassBuilder> methods) {
    return ClassFile.of()
        .build(
            ClassDesc.of(HiddenClass.class.getPackageName(), name),
            builder -> {
              builder.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SYNTHETIC);
              builder.with(SourceFileAttribute.of(name + ".txt"));
              methods.accept(builder);
            });
  }

  /**
   * Writes a static method and its listing.
   *
   * @param frames parameters that are frames
   * @param ints parameters after them
   */
  static void method(
      ClassBuilder builder,
      StringBuilder listing,
      String name,
      ClassDesc result,
      int frames,
      int ints,
      Consumer<Code> body) {
    listing.append(name).append(":\n");
    ClassDesc[] parameters = new ClassDesc[frames + ints];
    Arrays.fill(parameters, CD_int);
    Arrays.fill(parameters, 0, frames, Code.FRAME);
    builder.withMethodBody(
        name,
        MethodTypeDesc.of(result, parameters),
        ClassFile.ACC_STATIC,
        c -> body.accept(new Code(c, listing, parameters.length)));
  }

  /** Defines the class. */
  static MethodHandles.Lookup define(String name, byte[] bytes) {
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
