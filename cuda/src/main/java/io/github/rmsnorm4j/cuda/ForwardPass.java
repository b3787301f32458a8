package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.internal.formula.Forward;
import java.util.List;

/**
 * A forward pass of a norm, checked by the caller.
 *
 * @param rows what it reads and writes
 * @param saved takes what a backward pass needs; null where nothing is kept
 * @param statistics takes numbers of rows that the caller wants; null where none are wanted
 */
record ForwardPass(CudaNorm norm, CallRows rows, CudaSaved saved, CudaStatistics statistics) {
  /** The launches, in order. */
  List<KernelCall> launches() {
    CudaRows x = rows.get(Forward.X);
    return new ForwardCalls(
            norm.parts(),
            norm.device().context().sharedBytes(),
            rows.onDevice(),
            norm.parameters().gain(x.type()),
            norm.parameters().bias(x.type()),
            saved != null ? saved.meanAddress() : statistics == null ? 0 : statistics.meanAddress(),
            saved != null ? saved.rstdAddress() : statistics == null ? 0 : statistics.rstdAddress(),
            null)
        .launches();
  }

  /** What was kept before is lost from here on. */
  void begin() {
    if (saved != null) {
      saved.begin();
    }
  }

  /** Notes what is kept, after the launches. */
  void end() {
    if (saved != null) {
      CudaRows residual = rows.get(Forward.RESIDUAL);
      CudaRows input = residual == null ? rows.get(Forward.X) : residual;
      boolean output = saved.keep() == Keep.OUTPUT;
      saved.end(norm, output ? rows.get(Forward.Y) : input, rows.get(Forward.Z));
    }
  }
}
