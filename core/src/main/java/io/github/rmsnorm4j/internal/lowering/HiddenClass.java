package io.github.rmsnorm4j.internal.lowering;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.constant.ClassDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
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

  /** Defines the class. */
  static MethodHandles.Lookup define(String name, byte[] bytes) {
    try {
      return MethodHandles.lookup().defineHiddenClass(bytes, true);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("kernel " + name + " cannot be made", e);
    }
  }

  /** A static method of the class. */
  static MethodHandle method(
      MethodHandles.Lookup lookup, String name, Class<?> result, Class<?>... parameters) {
    MethodType type = MethodType.methodType(result, parameters);
    try {
      return lookup.findStatic(lookup.lookupClass(), name, type);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("kernel " + lookup.lookupClass() + " has no " + name, e);
    }
  }
}
