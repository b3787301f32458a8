package io.github.rmsnorm4j.internal.lowering.machine;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.machine.NativeCall;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
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

  /**
   * For rows in arrays. The garbage collector must not move these meanwhile. So it waits, and calls
   * have to be short.
   */
  private static final class OfArrays {
    static final MethodHandle HANDLE = handle(ADDRESS, FEW, Linker.Option.critical(true));
  }

  private static final class OfManyArrays {
    static final MethodHandle HANDLE =
        handle(ADDRESS, Tensor.Access.ELEMENT.places(), Linker.Option.critical(true));
  }

  /** For native rows of many tensors. */
  private static final class OfMany {
    static final MethodHandle HANDLE = handle(JAVA_LONG, Tensor.Access.ELEMENT.places());
  }

  private final MemorySegment code;

  /** The places of the tensors whose bases the code takes. */
  private final int[] places;

  KernelCall(MemorySegment code, List<Tensor> rows) {
    this.code = code;
    places = rows.stream().mapToInt(Tensor::place).toArray();
  }

  @SuppressWarnings("restricted")
  private static MethodHandle handle(ValueLayout base, int bases, Linker.Option... options) {
    MemoryLayout[] parameters = new MemoryLayout[1 + bases];
    Arrays.fill(parameters, base);
    parameters[0] = JAVA_LONG;
    return Linker.nativeLinker()
        .downcallHandle(FunctionDescriptor.of(JAVA_LONG, parameters), options);
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
    return places.length <= FEW
        ? (long) NativeCall.HANDLE.invokeExact(code, area, b[0], b[1], b[2], b[3], b[4])
        : (long)
            OfMany.HANDLE.invokeExact(code, area, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]);
  }

  private long ofArrays(MachineFrame frame) throws Throwable {
    return places.length <= FEW
        ? (long)
            OfArrays.HANDLE.invokeExact(
                code,
                frame.area.address(),
                base(frame, 0),
                base(frame, 1),
                base(frame, 2),
                base(frame, 3),
                base(frame, 4))
        : (long)
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
                base(frame, 7));
  }

  private MemorySegment base(MachineFrame frame, int i) {
    MemorySegment base = i < places.length ? frame.bases[places[i]] : null;
    return base == null ? MemorySegment.NULL : base;
  }
}
