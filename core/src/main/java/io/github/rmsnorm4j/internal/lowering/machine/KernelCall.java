package io.github.rmsnorm4j.internal.lowering.machine;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.Downcall;
import io.github.rmsnorm4j.internal.machine.NativeCall;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.List;

/**
 * Calls the machine code of a kernel, see {@link MachineCode}. The JVM makes classes for every kind
 * of call, so there are few: for tensors whose bases all come in registers, and for the most that
 * there may be.
 */
final class KernelCall {
  /** What native rows are relative to. */
  static final long[] NATIVE = new long[Tensor.Access.ELEMENT.places()];

  private static final int FEW = MachineCode.BASES.size();

  private static final Downcall ARRAYS = kind(ADDRESS, FEW);
  private static final Downcall MANY_ARRAYS = kind(ADDRESS, NATIVE.length);
  private static final Downcall MANY = kind(JAVA_LONG, NATIVE.length);

  /** For rows in arrays. */
  private static final class OfArrays {
    static final MethodHandle HANDLE = ARRAYS.handle();
  }

  private static final class OfManyArrays {
    static final MethodHandle HANDLE = MANY_ARRAYS.handle();
  }

  /** For native rows of many tensors. */
  private static final class OfMany {
    static final MethodHandle HANDLE = MANY.handle();
  }

  private final MemorySegment code;

  /** The places of the tensors whose bases the code takes. */
  private final int[] places;

  KernelCall(MemorySegment code, List<Tensor> rows) {
    this.code = code;
    places = rows.stream().mapToInt(Tensor::place).toArray();
  }

  private static Downcall kind(ValueLayout base, int bases) {
    ValueLayout[] parameters = new ValueLayout[1 + bases];
    Arrays.fill(parameters, base);
    parameters[0] = JAVA_LONG;
    return new Downcall(base == ADDRESS, parameters);
  }

  /** The memory of the code. */
  MemorySegment code() {
    return code;
  }

  /**
   * Runs the code; returns how many rows are done.
   *
   * @param bases of native rows
   */
  int rows(MachineFrame frame, long[] bases) {
    try {
      return (int) (frame.hasArrays ? ofArrays(frame) : ofNative(frame.area.address(), bases));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /** The JVM can stop the thread meanwhile, as in any native code. */
  private long ofNative(long area, long[] b) throws Throwable {
    if (places.length <= FEW) {
      // Made by the call that made the memory of the code.
      return (long) NativeCall.OfLongs.HANDLE.invokeExact(code, area, b[0], b[1], b[2], b[3], b[4]);
    }
    MANY.make();
    return (long)
        OfMany.HANDLE.invokeExact(
            code, area, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11]);
  }

  private long ofArrays(MachineFrame frame) throws Throwable {
    if (places.length <= FEW) {
      ARRAYS.make();
      return (long)
          OfArrays.HANDLE.invokeExact(
              code,
              frame.area.address(),
              base(frame, 0),
              base(frame, 1),
              base(frame, 2),
              base(frame, 3),
              base(frame, 4));
    }
    MANY_ARRAYS.make();
    return (long)
        OfManyArrays.HANDLE.invokeExact(
            code,
            frame.area.address(),
            base(frame, 0),
            base(frame, 1),
            base(frame, 2),
            base(frame, 3),
            base(frame, 4),
            base(frame, 5),
            base(frame, 6),
            base(frame, 7),
            base(frame, 8),
            base(frame, 9),
            base(frame, 10),
            base(frame, 11));
  }

  private MemorySegment base(MachineFrame frame, int i) {
    MemorySegment base = i < places.length ? frame.bases[places[i]] : null;
    return base == null ? MemorySegment.NULL : base;
  }
}
