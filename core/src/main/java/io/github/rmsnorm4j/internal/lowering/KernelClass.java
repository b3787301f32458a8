package io.github.rmsnorm4j.internal.lowering;

import static java.lang.constant.ConstantDescs.CD_void;

import io.github.rmsnorm4j.internal.formula.Stage;
import java.lang.invoke.MethodHandles;

/** The hidden class of a kernel. */
final class KernelClass {
  private final Target target;
  private final HiddenClass written;
  private int calls;

  KernelClass(Target target) {
    this.target = target;
    written = new HiddenClass(target.name(), this::methods);
  }

  MethodHandles.Lookup define() {
    return written.define(target.stages());
  }

  private void methods(HiddenClass into) {
    Stage first = target.stages().getFirst();
    if (target.hasVectorsOfRows()) {
      into.method("rows", CD_void, 1, 1, this::rows);
    } else if (first.hasElements()) {
      into.method("elements", CD_void, 2, 4, this::elements);
    }
    // A kernel for one width has no elements after the last 32.
    for (int p = 0; p < target.stages().size() && target.width() == 0; p++) {
      Stage stage = target.stages().get(p);
      boolean evenFirst = target.pairs(stage);
      into.method("tail" + p, CD_void, 1, 3, code -> new TailLoop(stage, evenFirst, code).emit());
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

  /** Calls of the Vector API in the loop over elements, or over rows. */
  int calls() {
    return calls;
  }
}
