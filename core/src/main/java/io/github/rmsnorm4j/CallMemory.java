package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.codec.RowMemory;
import io.github.rmsnorm4j.internal.norm.NormCall;
import java.lang.foreign.MemorySegment;

/**
 * How the rows of a checked call are reached: where they are, or through a workspace; and by whom.
 *
 * @param addresses whether kernels may address native memory
 */
record CallMemory(boolean addresses) {
  /** Not started; stands for any thread but the caller's. */
  private static final Thread ANOTHER_THREAD = anotherThread();

  /** It inherits nothing, so that it keeps nobody's class loader. */
  private static Thread anotherThread() {
    Thread thread = new Thread(null, () -> {}, "rmsnorm4j-another", 0, false);
    thread.setContextClassLoader(null);
    return thread;
  }

  RowMemory of(Rows rows, boolean float64) {
    long stride = rows.rows() == 1 ? 0 : rows.rowStride() * rows.type().bytes();
    return rows.memory(stride, isDirect(rows, float64));
  }

  /** Whether kernels may address the rows where they are: if of the arithmetic's type, and safe. */
  private boolean isDirect(Rows rows, boolean float64) {
    MemorySegment segment = rows.segment();
    if (rows.type() != (float64 ? ElementType.FLOAT64 : ElementType.FLOAT32)) {
      return false;
    }
    if (segment.isNative()) {
      return addresses && !rows.maybeMapped();
    }
    Object array = segment.heapBase().orElse(null);
    boolean fits = float64 ? array instanceof double[] : array instanceof float[];
    return fits && segment.address() % rows.type().bytes() == 0;
  }

  /** Whether threads other than the caller's can work on the rows: copies check the owner. */
  static boolean isShared(NormCall call) {
    return isShared(call.x())
        && isShared(call.y())
        && (call.residual() == null || call.addsOnTheWay() || isOthers(call.residual().segment()));
  }

  static boolean isShared(RowMemory rows) {
    return rows.direct() || isOthers(rows.segment());
  }

  private static boolean isOthers(MemorySegment segment) {
    return segment.isAccessibleBy(ANOTHER_THREAD);
  }
}
