package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_void;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.kernel.Listings;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The hidden class of a kernel and its listing, which has the name that stack traces show. */
final class KernelClass {
  private static final AtomicInteger COUNT = new AtomicInteger();

  private final Target target;
  private final String name;
  private final StringBuilder text = new StringBuilder();
  private final byte[] bytes;
  private int calls;

  KernelClass(Target target) {
    this.target = target;
    name = target.name() + "_" + COUNT.incrementAndGet();
    ClassDesc type = ClassDesc.of(KernelClass.class.getPackageName(), name);
    bytes =
        ClassFile.of()
            .build(
                type,
                builder -> {
                  builder.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SYNTHETIC);
                  builder.with(SourceFileAttribute.of(name + ".txt"));
                  methods(builder);
                });
  }

  /** Writes the listing, and defines the class. */
  MethodHandles.Lookup define() {
    Listings.write(name, text, target.stages());
    try {
      return MethodHandles.lookup().defineHiddenClass(bytes, true);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("kernel " + name + " cannot be made", e);
    }
  }

  private void methods(ClassBuilder builder) {
    Stage first = target.stages().getFirst();
    if (target.hasVectorsOfRows()) {
      method(
          builder,
          "rows",
          1,
          1,
          RowLoop.LOCALS,
          code -> new RowLoop(first, target.bits(), code).emit());
    } else if (first.hasElements()) {
      method(builder, "elements", 2, 4, ElementLoop.LOCALS, this::elements);
    }
    // A kernel for one width has no elements after the last 32.
    for (int p = 0; p < target.stages().size() && target.width() == 0; p++) {
      Stage stage = target.stages().get(p);
      boolean evenFirst = target.pairs(stage);
      method(
          builder,
          "tail" + p,
          1,
          3,
          TailLoop.LOCALS,
          code -> new TailLoop(stage, evenFirst, code).emit());
    }
  }

  private void elements(Code code) {
    Stage first = target.stages().getFirst();
    boolean narrowStores = target.width() > 0 && first.sums().isEmpty();
    if (first.columnSums().isEmpty() && !narrowStores) {
      ElementLoop loop = new ElementLoop(target, code);
      loop.emit();
      calls = loop.calls();
    } else {
      new ColumnLoop(target, code).emit();
    }
  }

  private void method(
      ClassBuilder builder, String method, int frames, int ints, int locals, Consumer<Code> body) {
    text.append(method).append(":\n");
    ClassDesc[] first =
        frames == 1 ? new ClassDesc[] {Code.FRAME} : new ClassDesc[] {Code.FRAME, Code.FRAME};
    builder.withMethodBody(
        method,
        MethodTypeDesc.of(CD_void, Code.ints(first, ints)),
        ClassFile.ACC_STATIC,
        c -> body.accept(new Code(c, text, locals)));
  }

  /** Calls of the Vector API in the loop over elements. */
  int calls() {
    return calls;
  }

  /** A static method of a kernel's class; it returns nothing. */
  static MethodHandle method(MethodHandles.Lookup lookup, String name, Class<?>... parameters) {
    try {
      return lookup.findStatic(
          lookup.lookupClass(), name, MethodType.methodType(void.class, parameters));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("kernel " + lookup.lookupClass() + " has no " + name, e);
    }
  }
}
