package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.quantized.CodeMemory;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import io.github.rmsnorm4j.internal.quantized.QuantizedChunks;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** Machine code that writes codes of quantised rows. The thread of kernels makes it. */
final class CodeKernels {
  /** What is being made, or was last. */
  private static volatile KernelThread.@Nullable Work making;

  /** Bits of vectors of machine code; -1 before the thread has found out. */
  private static volatile int found = -1;

  private CodeKernels() {}

  /**
   * Bits of vectors of the machine code for a rule. 0 where there is none, and until it is made.
   *
   * @param machineBits found by a native call, which takes long the first time
   */
  static int ready(CodeMemory codes, CodeRule rule, IntSupplier machineBits) {
    int bits = found;
    if (bits >= 0 && QuantizedChunks.isReady(codes, rule, bits)) {
      return bits;
    }
    KernelThread.Work last = making;
    if (last == null || last.isDone()) {
      KernelThread.Work work = new KernelThread.Work(() -> make(codes, rule, machineBits));
      making = work;
      KernelThread.later(work);
    }
    return 0;
  }

  private static void make(CodeMemory codes, CodeRule rule, IntSupplier machineBits) {
    found = machineBits.getAsInt();
    QuantizedChunks.makeReady(codes, rule, found);
  }
}
