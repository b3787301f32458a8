package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_void;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.kernel.Listings;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
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
    bytes = HiddenClass.bytes(name, this::methods);
  }

  /** Writes the listing, and defines the class. */
  MethodHandles.Lookup define() {
    Listings.write(name, text, target.stages());
    return HiddenClass.define(name, bytes);
  }

  private void methods(ClassBuilder builder) {
    Stage first = target.stages().getFirst();
    if (target.hasVectorsOfRows()) {
      method(builder, "rows", 1, 1, RowLoop.LOCALS, this::rows);
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

  private void rows(Code code) {
    RowLoop loop = new RowLoop(target.stages().getFirst(), target.bits(), code);
    loop.emit();
    calls = loop.calls();
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

  /** Calls of the Vector API in the loop over elements, or over rows. */
  int calls() {
    return calls;
  }
}
