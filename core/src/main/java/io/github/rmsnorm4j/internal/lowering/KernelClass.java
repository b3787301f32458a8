package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_void;

import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.kernel.Listings;
import java.lang.classfile.ClassBuilder;
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
      method(builder, "rows", 1, 1, this::rows);
    } else if (first.hasElements()) {
      method(builder, "elements", 2, 4, this::elements);
    }
    // A kernel for one width has no elements after the last 32.
    for (int p = 0; p < target.stages().size() && target.width() == 0; p++) {
      Stage stage = target.stages().get(p);
      boolean evenFirst = target.pairs(stage);
      method(builder, "tail" + p, 1, 3, code -> new TailLoop(stage, evenFirst, code).emit());
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
      ClassBuilder builder, String method, int frames, int ints, Consumer<Code> body) {
    HiddenClass.method(builder, text, method, CD_void, frames, ints, body);
  }

  /** Calls of the Vector API in the loop over elements, or over rows. */
  int calls() {
    return calls;
  }
}
