package io.github.rmsnorm4j.cuda.eager;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.cuda.ptx.ColumnSumKernel;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import java.util.ArrayList;
import java.util.List;

/** The kernels of operations, for tests that look at all kernels. */
@SuppressWarnings("exports") // Test code is on the class path.
public final class OperationKernels {
  private OperationKernels() {}

  /** Of every operation, on every type and form. */
  public static List<PtxKernel> all() {
    List<PtxKernel> kernels = new ArrayList<>();
    for (ElementType type :
        List.of(ElementType.FLOAT32, ElementType.FLOAT16, ElementType.BFLOAT16)) {
      for (Operation operation : Operation.values()) {
        kernels.add(operation.kernel(type, 4096));
        kernels.add(operation.kernel(type, 512));
      }
      kernels.add(Operation.rstd(type, 1024));
      kernels.add(Operation.throughRoot(type, 4096, 1024));
      kernels.add(ColumnSumKernel.of(type));
    }
    return kernels;
  }
}
